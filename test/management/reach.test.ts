import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { putMember } from '../../src/accounts/members.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { addToList, issueAccessToken } from '../../src/auth/oauth/tokens.ts';
import { openUsersFixture, type SignedInUser } from './people.ts';

test('a token of a team sign-in client gives access only to that team, even if its user has other teams', async () => {
  const { directory, settings, clock, ada, team, callWith } = await openUsersFixture();
  const evil = await createTeam(directory, 'Evil');
  await putMember(directory, evil.id, ada.user.id);
  const addClient = async (teamId: string) => {
    const client = {
      clientId: `client_of_${teamId}`,
      number: 1,
      teamId,
      name: 'Console',
      redirectUris: ['https://rp.example/cb'],
      secretHash: null,
      createdAt: clock.now(),
    };
    await directory.change((tx) => tx.put('clients', client.clientId, client));
    return client.clientId;
  };
  const statusesWith = async (client_id: string) => {
    const token = await issueAccessToken(settings, {
      sub: ada.user.id,
      client_id,
      scope: 'openid flagmeter',
      role: 'Admin',
      team: [evil.id, team.id],
      primaryTeam: team.id,
    });
    const ask = (id: string) => callWith(`Bearer ${token}`, 'GET', `/teams/${id}`);
    return [(await ask(evil.id)).status, (await ask(team.id)).status];
  };
  expect(await statusesWith(await addClient(evil.id))).toEqual([200, 403]);
  expect(await statusesWith(await addClient(team.id))).toEqual([403, 200]);
  expect(await statusesWith('flagmeter-cli')).toEqual([200, 200]);
});

test("a token of a team's sign-in client cannot remove factors of a user of several teams", async () => {
  const { directory, settings, bob, eve, team, accountStore, callWith } = await openUsersFixture();
  const clientId = 'signin_1';
  const names = { clientId, number: 1, teamId: team.id, name: 'Wiki', redirectUris: [], secretHash: null };
  await directory.change((tx) => tx.put('clients', clientId, { ...names, createdAt: 0 }));
  const removeTotp = async ({ user: { id, role } }: SignedInUser, client_id: string) => {
    const totp = {
      userId: id,
      secret: 'JBSWY3DPEHPK3PXP',
      createdAt: 0,
      lastStep: 0,
      lastUsedAt: 0,
      recoveryCodes: [],
    };
    await accountStore.change((tx) => tx.put('totp', id, totp));
    const granted = { scope: 'openid flagmeter', role, team: [team.id], primaryTeam: team.id };
    const token = await issueAccessToken(settings, { sub: id, client_id, ...granted });
    return (await callWith(`Bearer ${token}`, 'DELETE', `/users/${id}/totp`)).status;
  };
  expect(await removeTotp(bob, clientId)).toBe(403);
  expect(await removeTotp(bob, 'flagmeter-cli')).toBe(204);
  expect(await removeTotp(eve, clientId)).toBe(204);
});

test('a token that is invalidated before the body arrives cannot make changes', async () => {
  const { slowly, ada, tokens, as, team, accountStore } = await openUsersFixture();
  const path = `/teams/${team.id}/api-keys`;
  const late = await slowly({ ...ada, token: tokens.admin }, 'POST', path, { name: 'backdoor', role: 'Admin' });
  const { jti = '', exp = 0 } = decodeJwt(tokens.admin);
  await accountStore.change((tx) => addToList(tx, { jti, exp }));
  late.arrive();
  expect(await late.response).toMatchObject({ status: 401 });
  expect(JSON.stringify((await as(ada, 'GET', path)).json)).not.toContain('backdoor');
});
