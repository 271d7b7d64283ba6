import { describe, expect, test } from 'vitest';
import { hasPassword, verifyPassword } from '../../src/accounts/passwords.ts';
import { dayMs } from './fixture.ts';
import { type Item, openUsersFixture } from './people.ts';

const zoe = { email: 'Zoe@Example.com', name: 'Zoe' };

describe('POST /users', () => {
  test('creating a user requires an e-mail address and a name, and returns an invitation once', async () => {
    const { as, ada, directory, team, clock } = await openUsersFixture();
    const { status, json, headers } = await as(ada, 'POST', '/users', zoe);
    expect(status).toBe(201);
    const { invitation, ...user } = json;
    const now = new Date(clock.now()).toISOString();
    const inTeam = { teams: [team.id], teamRoles: { [team.id]: 'User' }, primaryTeam: team.id };
    const defaults = { role: 'User', ...inTeam };
    const id = expect.stringMatching(/^user_[0-9a-f]{24}$/);
    const { url, ...shown } = invitation;
    expect(shown).toEqual({ purpose: 'invitation', expiresAt: new Date(clock.now() + 7 * dayMs).toISOString() });
    expect(user).toEqual({ id, ...zoe, ...defaults, createdAt: now, updatedAt: now });
    expect(headers).toMatchObject({ location: `/api/v2/users/${user.id}`, 'cache-control': 'no-store' });
    const stored = directory.users.get(user.id)!;
    expect(hasPassword(stored)).toBe(false);
    const [, token = ''] = url.split('https://auth.example/connect/invitation#');
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(stored)).not.toContain(token);
    const read = await as(ada, 'GET', `/users/${user.id}`);
    expect(read).toMatchObject({ status: 200, json: { ...user, invitation: shown } });
    const audit = await as(ada, 'GET', '/audit');
    expect(read.text + audit.text).not.toContain(token);
    const [latest] = audit.json.items;
    expect(latest).toMatchObject({ action: 'invitation.created', target: { id: user.id } });
  });

  test('a user can be created with all fields, and the given password is not returned', async () => {
    const { as, bob, directory, team, otherTeamId } = await openUsersFixture();
    const given = { ...zoe, role: 'Admin', teams: [otherTeamId, team.id] };
    const { status, json, text } = await as(bob, 'POST', '/users', { ...given, password: 'pass words of Zoe' });
    expect({ status, json }).toMatchObject({ status: 201, json: { ...given, primaryTeam: otherTeamId } });
    expect(text).not.toContain('pass');
    const { passwordHash = '' } = directory.users.get(json.id) ?? {};
    expect(await verifyPassword('pass words of Zoe', passwordHash)).toBe(true);
  });

  test('a user cannot be created in a team that the caller is not in', async () => {
    const { as, ada, team, otherTeamId } = await openUsersFixture();
    const addIn = (id: string) => as(ada, 'POST', '/users', { ...zoe, teams: [team.id, id] });
    expect(await addIn(otherTeamId)).toMatchObject({ status: 403, json: { code: 'not_in_team' } });
    expect(await addIn('team_none')).toMatchObject({ status: 404, json: { detail: 'There is no such team' } });
  });

  test.each(['ada@example.com', 'ADA@example.COM', 'tom@example.com'])(
    'a user cannot be created with the e-mail address %s of another user',
    async (email) => {
      const { as, ada } = await openUsersFixture();
      const response = await as(ada, 'POST', '/users', { ...zoe, email });
      expect(response).toMatchObject({ status: 409, json: { code: 'conflict' } });
      expect(response.json.detail).not.toContain('example');
    },
  );

  test('the password of a new user is hashed only after the other fields are checked', async () => {
    const { as, ada, hashed, otherTeamId } = await openUsersFixture();
    const wrong = [
      { teams: [otherTeamId] },
      { teams: [] },
      { email: 'ada@example.com' },
      { email: 'zoe' },
      { name: '' },
      { password: 'short' },
    ];
    for (const part of wrong) await as(ada, 'POST', '/users', { ...zoe, ...part });
    expect(hashed).toEqual([]);
    await as(ada, 'POST', '/users', { ...zoe, password: 'pass words of Zoe' });
    expect(hashed).toEqual([ada.user.id]);
  });

  test('only one of two concurrent requests creates a user with the same e-mail address', async () => {
    const { as, ada } = await openUsersFixture();
    const both = await Promise.all([as(ada, 'POST', '/users', zoe), as(ada, 'POST', '/users', zoe)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test.each<[object, string, string]>([
    [{ ...zoe, email: 'zoe' }, 'invalid_body', 'email'],
    [{ ...zoe, email: 'zoe@' }, 'invalid_body', 'email'],
    [{ ...zoe, email: 'z oe@example.com' }, 'invalid_body', 'email'],
    [{ ...zoe, email: 'zoe\u202e@example.com' }, 'invalid_body', 'email'],
    [{ ...zoe, email: 'a@b@example.com' }, 'invalid_body', 'email'],
    [{ ...zoe, email: 'zoe\0@example.com' }, 'invalid_body', 'email'],
    [{ ...zoe, email: `${'z'.repeat(250)}@example.com` }, 'invalid_body', 'email'],
    [{ ...zoe, teams: [] }, 'invalid_body', 'teams'],
    [{ ...zoe, primaryTeam: 'x' }, 'invalid_body', 'Field primaryTeam'],
    [{ ...zoe, passwordHash: 'x' }, 'invalid_body', 'Field passwordHash'],
  ])('a user cannot be created from %j', async (body, code, detail) => {
    const { as, ada, directory } = await openUsersFixture();
    const before = directory.users.size;
    const response = await as(ada, 'POST', '/users', body);
    expect(response).toMatchObject({ status: 400, json: { code } });
    expect(response.json.detail).toContain(detail);
    expect(directory.users.size).toBe(before);
  });

  test('a user cannot be created with the same team twice', async () => {
    const { as, ada, team } = await openUsersFixture();
    const response = await as(ada, 'POST', '/users', { ...zoe, teams: [team.id, team.id] });
    expect(response).toMatchObject({ status: 400, json: { code: 'invalid_body' } });
  });

  test('a caller who loses the role Admin before the body arrives cannot create a user', async () => {
    const { slowly, as, ada, bob, directory } = await openUsersFixture();
    const late = await slowly(ada, 'POST', '/users', { ...zoe, role: 'Admin' });
    expect(await as(bob, 'PATCH', `/users/${ada.user.id}`, { role: 'User' })).toMatchObject({ status: 200 });
    const before = directory.users.size;
    late.arrive();
    expect(await late.response).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    expect(directory.users.size).toBe(before);
  });

  test('a user cannot be created in a team that the caller leaves before the body arrives', async () => {
    const { slowly, as, bob, tom, otherTeamId } = await openUsersFixture();
    const late = await slowly(bob, 'POST', '/users', { ...zoe, teams: [otherTeamId] });
    await as(tom, 'DELETE', `/teams/${otherTeamId}/members/${bob.user.id}`);
    late.arrive();
    expect(await late.response).toMatchObject({ status: 403, json: { code: 'not_in_team' } });
  });
});

describe('GET /users', () => {
  test('the list of users has all users who share a team with the caller', async () => {
    const { as, ada, bob, eve, tom } = await openUsersFixture();
    const seen = async (who: typeof ada) => (await as(who, 'GET', '/users')).json.items.map(({ id }: Item) => id);
    expect(await seen(eve)).toEqual([ada, bob, eve].map(({ user }) => user.id));
    expect(await seen(tom)).toEqual([bob, tom].map(({ user }) => user.id));
  });

  test('pages list every remaining user exactly once while other users are created and deleted', async () => {
    const { pages, addUser, as, ada, bob, eve } = await openUsersFixture();
    const fay = (await addUser('Fay')).user;
    const seen = await pages('/users', 2, async (page) => {
      if (page > 0) return;
      await as(ada, 'DELETE', `/users/${eve.user.id}`);
      await addUser('Gil');
    });
    expect(seen.map(({ name }) => name)).toEqual([ada.user, bob.user, fay, { name: 'Gil' }].map((u) => u.name));
  });

  test.each(['GET', 'PATCH', 'DELETE'])(
    'the method %s is refused for a user who does not share a team with the caller',
    async (method) => {
      const { as, ada, tom } = await openUsersFixture();
      const refused = await as(ada, method, `/users/${tom.user.id}`, {});
      expect(refused).toMatchObject({ status: 403, json: { code: 'not_in_team' } });
      const missing = await as(ada, method, '/users/user_none', {});
      expect(missing).toMatchObject({ status: 404, json: { code: 'not_found' } });
    },
  );

  test('/users/me returns the user of the token', async () => {
    const { as, eve, call, team, clock } = await openUsersFixture();
    const own = await as(eve, 'GET', '/users/me');
    expect(own).toEqual(await as(eve, 'GET', `/users/${eve.user.id}`));
    expect(own.json).toMatchObject({ id: eve.user.id, email: 'eve@example.com' });
    const at = new Date(clock.now()).toISOString();
    expect((await call('GET', '/users/me')).json).toEqual({
      invitation: null,
      id: expect.stringMatching(/^client_/),
      email: null,
      name: 'Admin',
      role: 'Admin',
      teams: [team.id],
      teamRoles: { [team.id]: 'Admin' },
      primaryTeam: team.id,
      createdAt: at,
      updatedAt: at,
    });
  });

  test('responses never contain the password hash of a user', async () => {
    const { as, ada } = await openUsersFixture();
    const made = await as(ada, 'POST', '/users', zoe);
    for (const { text } of [made, await as(ada, 'GET', '/users')]) expect(text).not.toMatch(/hash|argon/i);
  });
});

describe('DELETE /users/:id', () => {
  test('deleting a user immediately invalidates the tokens of the user', async () => {
    const { as, ada, eve, directory, callWith } = await openUsersFixture();
    expect(await as(ada, 'DELETE', `/users/${eve.user.id}`)).toMatchObject({ status: 204, text: '' });
    expect(directory.users.has(eve.user.id)).toBe(false);
    expect(await callWith(`Bearer ${eve.token}`, 'GET', '/users/me')).toMatchObject({ status: 401 });
    expect(await as(ada, 'DELETE', `/users/${eve.user.id}`)).toMatchObject({ status: 404 });
  });

  test('the e-mail address of a deleted user can be used again', async () => {
    const { as, ada, eve } = await openUsersFixture();
    await as(ada, 'DELETE', `/users/${eve.user.id}`);
    const again = await as(ada, 'POST', '/users', { email: 'eve@example.com', name: 'Eve' });
    expect(again.status).toBe(201);
    expect(again.json.id).not.toBe(eve.user.id);
  });

  test('a user can be deleted only by another Admin who is in all teams of the user', async () => {
    const { as, ada, bob, tom } = await openUsersFixture();
    for (const who of [ada, tom]) {
      const refused = await as(who, 'DELETE', `/users/${bob.user.id}`);
      expect(refused).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    }
    expect(await as(bob, 'DELETE', `/users/${bob.user.id}`)).toMatchObject({ status: 409 });
  });

  test('the last Admin of a team cannot be deleted', async () => {
    const { as, ada, bob, team } = await openUsersFixture();
    await as(ada, 'DELETE', `/teams/${team.id}/members/${bob.user.id}`);
    const refused = await as(undefined, 'DELETE', `/users/${ada.user.id}`);
    expect(refused).toMatchObject({ status: 409, json: { code: 'conflict' } });
    expect(refused.json.detail).toContain('last Admin of the team "Team"');
  });

  test('an Admin who is deleted before their request is complete cannot delete a user', async () => {
    const { slowly, as, ada, bob, tom } = await openUsersFixture();
    const late = await slowly(tom, 'PATCH', `/users/${bob.user.id}`, { name: 'Rob' });
    expect(await as(bob, 'DELETE', `/users/${tom.user.id}`)).toMatchObject({ status: 204 });
    late.arrive();
    expect(await late.response).toMatchObject({ status: 401 });
    expect((await as(ada, 'GET', `/users/${bob.user.id}`)).json.name).toBe('Bob');
  });
});
