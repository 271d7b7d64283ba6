import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hasPassword } from '../../src/accounts/passwords.ts';
import { renewBrowser } from '../../src/auth/cookies/browser.ts';
import { startSession } from '../../src/auth/oauth/sessions.ts';
import { currentSignIn, startSignIn } from '../../src/auth/oauth/sign-ins.ts';
import { dayMs } from './fixture.ts';
import { openUsersFixture, type UsersFixture } from './people.ts';

async function signInEve({ directory, settings, accountStore, clock, eve }: UsersFixture) {
  const browser = renewBrowser(undefined, randomBytes);
  const authentication = { factors: ['password'], userAgent: '' } as const;
  const { key } = await directory.change((tx) => {
    const now = clock.now();
    const { key: signIn } = startSignIn(tx, eve.user, { browser, authentication, now });
    const granted = { userId: eve.user.id, clientId: 'flagmeter-cli', signIn, scope: 'openid', authTime: 0 };
    return startSession(settings, tx, granted);
  });
  const deps = { accountStore, directory, clock };
  return {
    hasSession: () => accountStore.get('sessions', key) !== undefined,
    isSignedIn: async () => (await currentSignIn(deps, browser)) !== undefined,
  };
}

describe('a reset link', () => {
  test('a reset link is valid for a day, and its creation keeps the password and the sessions valid', async () => {
    const fixture = await openUsersFixture();
    const { as, ada, eve, directory, clock } = fixture;
    const eves = await signInEve(fixture);
    const { status, json } = await as(ada, 'POST', `/users/${eve.user.id}/reset-link`, {});
    const expiresAt = new Date(clock.now() + dayMs).toISOString();
    const url = expect.stringMatching(/^https:\/\/auth\.example\/connect\/invitation#[\w-]{43}$/);
    expect({ status, json }).toEqual({ status: 200, json: { purpose: 'reset-link', expiresAt, url } });
    expect(directory.users.get(eve.user.id)?.passwordHash).toBe(eve.user.passwordHash);
    expect([eves.hasSession(), await eves.isSignedIn()]).toEqual([true, true]);
    const { invitation } = (await as(ada, 'GET', `/users/${eve.user.id}`)).json;
    expect(invitation).toEqual({ purpose: 'reset-link', expiresAt });
  });

  test('a reset link with endSessions immediately invalidates the password, the sign-ins and the sessions', async () => {
    const fixture = await openUsersFixture();
    const { as, ada, eve, directory } = fixture;
    const eves = await signInEve(fixture);
    const path = `/users/${eve.user.id}/reset-link`;
    expect(await as(ada, 'POST', path, { endSessions: true })).toMatchObject({ status: 200 });
    expect(hasPassword(directory.users.get(eve.user.id)!)).toBe(false);
    expect([eves.hasSession(), await eves.isSignedIn()]).toEqual([false, false]);
    const actions = (await as(ada, 'GET', '/audit?limit=2')).json.items.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['reset-link.created', 'user.password-changed']);
  });

  test('a reset link for an invited user is another invitation', async () => {
    const { as, ada, clock } = await openUsersFixture();
    const { id } = (await as(ada, 'POST', '/users', { email: 'zoe@example.com', name: 'Zoe' })).json;
    const { json } = await as(ada, 'POST', `/users/${id}/reset-link`, {});
    const expiresAt = new Date(clock.now() + 7 * dayMs).toISOString();
    expect(json).toMatchObject({ purpose: 'invitation', expiresAt });
  });

  test('a reset link can be withdrawn once', async () => {
    const { as, ada, eve } = await openUsersFixture();
    const path = `/users/${eve.user.id}/reset-link`;
    await as(ada, 'POST', path, {});
    expect(await as(ada, 'DELETE', path)).toMatchObject({ status: 204 });
    expect((await as(ada, 'GET', `/users/${eve.user.id}`)).json.invitation).toBeNull();
    expect(await as(ada, 'DELETE', path)).toMatchObject({ status: 404, json: { code: 'not_found' } });
    const [latest] = (await as(ada, 'GET', '/audit?limit=1')).json.items;
    expect(latest).toMatchObject({ action: 'reset-link.withdrawn', target: { id: eve.user.id } });
  });

  test('a reset link becomes invalid when the user joins another team', async () => {
    const { as, ada, bob, eve, otherTeamId } = await openUsersFixture();
    await as(ada, 'POST', `/users/${eve.user.id}/reset-link`, {});
    expect(await as(bob, 'PUT', `/teams/${otherTeamId}/members/${eve.user.id}`, { role: 'Admin' })).toMatchObject({
      status: 201,
      json: { invitation: null },
    });
  });

  test.each([
    ['ada', 'ada', 409, 'conflict'],
    // Bob is in a team that Ada is not in.
    ['ada', 'bob', 403, 'forbidden'],
    ['eve', 'ada', 403, 'forbidden'],
    ['tom', 'eve', 403, 'not_in_team'],
  ] as const)('a request by %s for a reset link of %s is refused: %i %s', async (caller, who, status, code) => {
    const { as, directory, ...fixture } = await openUsersFixture();
    const path = `/users/${fixture[who].user.id}/reset-link`;
    for (const [method, body] of [['POST', { endSessions: true }] as const, ['DELETE', undefined] as const])
      expect(await as(fixture[caller], method, path, body)).toMatchObject({ status, json: { code } });
    expect(directory.users.get(fixture[who].user.id)).toEqual(fixture[who].user);
  });
});
