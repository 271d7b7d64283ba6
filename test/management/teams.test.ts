import { describe, expect, test } from 'vitest';
import { createKey } from '../../src/accounts/application-keys.ts';
import { createClient } from '../../src/accounts/clients.ts';
import { patchTeam } from '../../src/accounts/teams.ts';
import { deleteUser } from '../../src/accounts/users.ts';
import { refusal } from '../auth/fixture.ts';
import { openUsersFixture } from './people.ts';

describe('POST /teams', () => {
  test('a user who creates a team becomes a member, and can access the team immediately', async () => {
    const { as, ada, clock, directory, team } = await openUsersFixture();
    const { status, json, headers } = await as(ada, 'POST', '/teams', { name: 'New' });
    expect(status).toBe(201);
    const now = new Date(clock.now()).toISOString();
    const id = expect.stringMatching(/^team_/);
    expect(json).toEqual({
      id,
      name: 'New',
      plan: 'enterprise',
      secondFactor: 'optional',
      createdAt: now,
      updatedAt: now,
    });
    expect(headers['location']).toBe(`/api/v2/teams/${json.id}`);
    expect(await as(ada, 'GET', `/teams/${json.id}`)).toMatchObject({ status: 200, json });
    expect(directory.users.get(ada.user.id)).toMatchObject({ teams: [team.id, json.id], primaryTeam: team.id });
  });

  test('an API key that creates a team adds the Admins of its own team as members', async () => {
    const { call, as, ada, bob, eve } = await openUsersFixture();
    const { status, json } = await call('POST', '/teams', { name: 'New', plan: 'free' });
    expect(status).toBe(201);
    expect(await call('GET', `/teams/${json.id}`)).toMatchObject({ status: 403 });
    const { items } = (await as(ada, 'GET', `/teams/${json.id}/members`)).json;
    expect(items.map(({ id }: { id: string }) => id)).toEqual([ada.user.id, bob.user.id]);
    expect(await as(eve, 'GET', `/teams/${json.id}`)).toMatchObject({ status: 403 });
  });

  test('an Admin who is deleted while a team is created is not a member of the new team', async () => {
    const { call, as, ada, bob, directory } = await openUsersFixture();
    const deleting = deleteUser(directory, bob.user.id);
    const { status, json } = await call('POST', '/teams', { name: 'New' });
    expect(status).toBe(201);
    await deleting;
    const { items } = (await as(ada, 'GET', `/teams/${json.id}/members`)).json;
    expect(items.map(({ id }: { id: string }) => id)).toEqual([ada.user.id]);
  });

  test('an API key cannot create a team if its own team has no Admin', async () => {
    const { call, as, ada, bob, directory } = await openUsersFixture();
    for (const { user } of [ada, bob]) {
      await directory.change((tx) => tx.put('users', user.id, { ...user, role: 'User' }));
    }
    expect(await call('POST', '/teams', { name: 'New' })).toMatchObject(refusal(409, 'conflict'));
    expect(await as(ada, 'POST', '/teams', { name: 'New' })).toMatchObject({ status: 403 });
  });

  test('a user who is in the maximum number of teams cannot create another team', async () => {
    const { as, ada } = await openUsersFixture();
    for (let made = 1; made < 100; made += 1) await as(ada, 'POST', '/teams', { name: `team ${made}` });
    const refused = await as(ada, 'POST', '/teams', { name: 'one more' });
    expect(refused).toMatchObject(refusal(403, 'plan_limit'));
    expect(refused.json.detail).toBe('Cannot have more than 100 teams per user');
  });

  test('a team and the teams that its API keys create share one limit for new teams', async () => {
    const { call, as, ada, team, directory, issueToken } = await openUsersFixture();
    await patchTeam(directory, team.id, { plan: 'free' });
    const made = [];
    for (const name of ['A', 'B', 'C']) made.push((await call('POST', '/teams', { name, plan: 'free' })).json.id);
    const over = refusal(403, 'plan_limit');
    const refused = await call('POST', '/teams', { name: 'D' });
    expect(refused).toMatchObject(over);
    expect(refused.json.detail).toBe('The plan free allows no more than 3 teams created by a team');
    const { allowances } = (await call('GET', `/teams/${team.id}/limits`)).json;
    expect(allowances).toContainEqual(expect.objectContaining({ what: 'teams', used: 3, allowed: 3 }));
    const child = await issueToken('Admin', made[0]);
    expect(await call('POST', '/teams', { name: 'D' }, child)).toMatchObject(over);
    expect(await as(ada, 'POST', '/teams', { name: 'D' })).toMatchObject({ status: 201 });
    expect(await as(ada, 'DELETE', `/teams/${made[0]}`)).toMatchObject({ status: 204 });
    expect(await call('POST', '/teams', { name: 'D' })).toMatchObject({ status: 201 });
  });

  test('an Admin outside the first team can create only a limited number of teams', async () => {
    const { as, tom, directory, otherTeamId } = await openUsersFixture();
    await patchTeam(directory, otherTeamId, { plan: 'free' });
    const statuses = [];
    for (const name of ['A', 'B', 'C', 'D']) {
      const { status, json } = await as(tom, 'POST', '/teams', { name });
      statuses.push(status);
      // The new team counts against the limit of the team that created it.
      if (status === 201) await as(tom, 'PATCH', `/users/${tom.user.id}`, { primaryTeam: json.id });
    }
    expect(statuses).toEqual([201, 201, 201, 403]);
  });
});

test('users see only their own teams', async () => {
  const { as, ada, bob, tom, team, otherTeamId } = await openUsersFixture();
  const seen = async (who: typeof ada) =>
    (await as(who, 'GET', '/teams')).json.items.map(({ id }: { id: string }) => id);
  expect(await seen(ada)).toEqual([team.id]);
  expect(await seen(bob)).toEqual([team.id, otherTeamId]);
  expect(await seen(tom)).toEqual([otherTeamId]);
});

describe('PATCH /teams/:id', () => {
  test('a patch of a team with If-Match changes only the given fields, and only in the current version', async () => {
    const { sendTo, ada, team, clock } = await openUsersFixture();
    const authorization = `Bearer ${ada.token}`;
    const target = `/api/v2/teams/${team.id}`;
    const seen = await sendTo(target, { headers: { authorization } });
    const patch = (body: object, match: string) =>
      sendTo(target, { method: 'PATCH', headers: { authorization, 'if-match': match }, body: JSON.stringify(body) });
    clock.advance(1000);
    const updatedAt = new Date(clock.now()).toISOString();
    const tag = seen.headers['etag'] as string;
    const changed = await patch({ name: 'Renamed' }, tag);
    expect(changed).toMatchObject({ status: 200, json: { ...seen.json, name: 'Renamed', updatedAt } });
    expect(await patch({ plan: 'team' }, tag)).toMatchObject({ status: 412 });
    const current = changed.headers['etag'] as string;
    expect(await patch({ plan: 'team' }, current)).toMatchObject({ status: 200, json: { plan: 'team' } });
  });

  test('an empty patch of a team changes nothing', async () => {
    const { as, ada, team, clock } = await openUsersFixture();
    const before = (await as(ada, 'GET', `/teams/${team.id}`)).json;
    clock.advance(1000);
    expect(await as(ada, 'PATCH', `/teams/${team.id}`, {})).toMatchObject({ status: 200, json: before });
  });

  test('changing a team to a smaller plan is refused with the limit that the team exceeds', async () => {
    const { as, ada, team, application, directory, addUser } = await openUsersFixture();
    for (let made = 0; made < 11; made += 1) await createKey(directory, application.id, { type: 'Mobile' });
    for (const name of ['F', 'G', 'H']) await addUser(name);
    const path = `/teams/${team.id}`;
    const refused = await as(ada, 'PATCH', path, { plan: 'free', name: 'Renamed' });
    expect(refused).toMatchObject(refusal(409, 'conflict'));
    expect(refused.json.detail).toBe(
      'The team exceeds the limits of the plan free: 6 members in a team, where the plan allows 5; ' +
        '11 keys of an application, where the plan allows 10 ("Shop")',
    );
    expect((await as(ada, 'GET', path)).json).toMatchObject({ name: 'Team', plan: 'enterprise' });
    expect(await as(ada, 'PATCH', path, { plan: 'team' })).toMatchObject({ status: 200 });
  });
});

describe('DELETE /teams/:id', () => {
  async function openEmpty() {
    const fixture = await openUsersFixture();
    const { as, ada } = fixture;
    const { id } = (await as(ada, 'POST', '/teams', { name: 'Short' })).json;
    return { ...fixture, id, path: `/teams/${id}` };
  }

  test('a team with applications cannot be deleted', async () => {
    const { as, ada, id, path } = await openEmpty();
    const { json } = await as(ada, 'POST', '/applications', { name: 'App', teamId: id });
    const refused = refusal(409, 'conflict');
    expect(await as(ada, 'DELETE', path)).toMatchObject(refused);
    expect(await as(ada, 'DELETE', `/applications/${json.id}`)).toMatchObject({ status: 204 });
    expect(await as(ada, 'DELETE', path)).toMatchObject({ status: 204 });
    expect(await as(ada, 'GET', path)).toMatchObject({ status: 404 });
  });

  test('a team cannot be deleted if a member has no other team', async () => {
    const { as, ada, id, path, addUser, directory } = await openEmpty();
    const { user } = await addUser('Zoe', 'User', [id]);
    const refused = await as(ada, 'DELETE', path);
    expect(refused).toMatchObject(refusal(409, 'conflict'));
    expect(refused.json.detail).toContain('1 member who is not in another team');
    expect(directory.users.get(user.id)).toEqual(user);
  });

  test('deleting a team deletes its API keys and sign-in clients, and gives members another primary team', async () => {
    const { as, ada, id, path, addUser, directory, team, addClient, callWith } = await openEmpty();
    const { user } = await addUser('Zoe', 'User', [id, team.id]);
    const { apiKey } = await addClient('Admin', id);
    const redirectUris = ['https://app.example/cb'];
    await createClient(directory, { teamId: id, name: 'App', redirectUris, confidential: false });
    expect(await as(ada, 'DELETE', path)).toMatchObject({ status: 204, text: '' });
    expect(directory.apiKeys.has(apiKey.clientId)).toBe(false);
    expect(directory.clients.size).toBe(0);
    expect(directory.users.get(user.id)).toMatchObject({ teams: [team.id], primaryTeam: team.id });
    expect(await callWith(`Bearer ${ada.token}`, 'GET', '/teams')).toMatchObject({ status: 200 });
  });

  test('deleting a team adds an entry to an audit log that its former Admins can read', async () => {
    const { as, ada, tom, id, path } = await openEmpty();
    await as(ada, 'DELETE', path);
    const [entry] = (await as(ada, 'GET', '/audit?action=team')).json.items;
    expect(entry).toMatchObject({
      action: 'team.deleted',
      actor: { type: 'user', id: ada.user.id },
      target: { type: 'team', id, name: 'Short' },
    });
    expect(JSON.stringify((await as(tom, 'GET', '/audit')).json)).not.toContain(id);
  });
});
