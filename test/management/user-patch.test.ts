import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { noPasswordHash, verifyPassword } from '../../src/accounts/passwords.ts';
import { startSession } from '../../src/auth/oauth/sessions.ts';
import { isOnList } from '../../src/auth/oauth/tokens.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { openUsersFixture, type UsersFixture } from './people.ts';

type Name = 'ada' | 'bob' | 'eve' | 'tom' | 'key';

/** Rows of caller, user, change, status and refusal code. */
const table: readonly [caller: Name, user: Name, patch: object, status: number, code?: string][] = [
  ['ada', 'eve', { name: 'Eva' }, 200],
  ['ada', 'eve', { email: 'eva@example.com' }, 200],
  ['ada', 'eve', { role: 'Admin' }, 200],
  // Only the user can choose a password.
  ['ada', 'eve', { password: 'new password' }, 403, 'forbidden'],
  ['key', 'eve', { name: 'Eva', password: 'new password' }, 403, 'forbidden'],
  ['key', 'eve', { email: 'eva@example.com', role: 'Admin', name: 'Eva' }, 200],
  ['ada', 'eve', { email: 'BOB@example.com' }, 409, 'conflict'],
  ['ada', 'eve', { email: 'Eve@Example.com' }, 200],
  ['ada', 'eve', { email: 'eva' }, 400, 'invalid_body'],
  ['eve', 'eve', { password: 'eleven char', currentPassword: 'old password' }, 400, 'invalid_body'],
  ['ada', 'eve', { primaryTeam: 'team_none' }, 400, 'invalid_body'],
  ['ada', 'eve', { teams: [] }, 400, 'invalid_body'],
  // Bob is in a team that Ada is not in.
  ['ada', 'bob', { name: 'Rob' }, 200],
  ['ada', 'bob', { name: 'Rob', role: 'Admin', email: 'bob@example.com' }, 200],
  ['ada', 'bob', { role: 'User' }, 403, 'forbidden'],
  ['ada', 'bob', { email: 'rob@example.com' }, 403, 'forbidden'],
  ['ada', 'bob', { password: 'new password' }, 403, 'forbidden'],
  ['ada', 'bob', { primaryTeam: 'Team' }, 403, 'forbidden'],
  ['key', 'bob', { primaryTeam: 'Team' }, 403, 'forbidden'],
  ['bob', 'bob', { primaryTeam: 'Team' }, 200],
  ['bob', 'ada', { role: 'User', email: 'ad@example.com' }, 200],
  ['bob', 'tom', { role: 'User' }, 200],
  // Callers who change themselves.
  ['eve', 'eve', { name: 'Eva' }, 200],
  ['eve', 'eve', { name: 'Eva', role: 'User', email: 'eve@example.com' }, 200],
  ['eve', 'eve', { role: 'Admin' }, 403, 'forbidden'],
  ['eve', 'eve', { email: 'eva@example.com', currentPassword: 'old password' }, 403, 'forbidden'],
  ['eve', 'eve', { password: 'new password' }, 400, 'invalid_body'],
  ['eve', 'eve', { password: 'new password', currentPassword: 'wrong' }, 403, 'forbidden'],
  ['eve', 'eve', { password: 'new password', currentPassword: 'old password' }, 200],
  ['eve', 'eve', { password: 'short', currentPassword: 'old password' }, 400, 'invalid_body'],
  ['ada', 'ada', { role: 'User' }, 403, 'forbidden'],
  ['ada', 'ada', { email: 'ad@example.com' }, 400, 'invalid_body'],
  ['ada', 'ada', { email: 'ad@example.com', currentPassword: 'old password' }, 200],
  ['ada', 'ada', { password: 'new password' }, 400, 'invalid_body'],
  // Changes by callers who are not Admins of the user's team.
  ['eve', 'ada', { name: 'Ad' }, 403, 'forbidden'],
  ['tom', 'eve', { name: 'Eva' }, 403, 'not_in_team'],
];

const oldPassword = cheapHash('old password', randomBytes);

/** Opens a fixture. Ada and Eve have the password `old password`. */
async function open() {
  const fixture = await openUsersFixture();
  const { directory, ada, eve } = fixture;
  const passwordHash = await oldPassword;
  for (const { user } of [ada, eve]) {
    await directory.change((tx) => tx.put('users', user.id, { ...user, passwordHash }));
  }
  return { ...fixture, key: undefined };
}

test.each(table)('a caller %s who changes the user %s with %j gets %i', async (caller, who, wanted, status, code) => {
  const { as, directory, team, otherTeamId, ...fixture } = await open();
  const { user } = fixture[who as 'eve'];
  const { id } = user;
  // Bob's primary team is Tom's team, which therefore owns the resources that Bob creates.
  const patch = 'primaryTeam' in wanted && wanted.primaryTeam === 'Team' ? { primaryTeam: team.id } : wanted;
  if (who === 'bob') await directory.change((tx) => tx.put('users', id, { ...user, primaryTeam: otherTeamId }));
  const before = directory.users.get(id);
  const response = await as(fixture[caller], 'PATCH', `/users/${id}`, patch);
  expect(response).toMatchObject(code === undefined ? { status } : { status, json: { code } });
  if (status !== 200) expect(directory.users.get(id)).toEqual(before);
  const { password, currentPassword: _, ...shown } = patch as Record<string, unknown>;
  if (status === 200) expect(response.json).toMatchObject(shown);
  if (status === 200 && typeof password === 'string') {
    expect(await verifyPassword(password, directory.users.get(id)?.passwordHash ?? '')).toBe(true);
  }
  expect(response.text).not.toContain('password":');
});

test('a primary team must be one of the teams of the user, and visible to the caller', async () => {
  const { as, ada, bob, team, otherTeamId } = await open();
  const path = `/users/${bob.user.id}`;
  const refused = { status: 400, json: { code: 'invalid_body' } };
  expect(await as(ada, 'PATCH', path, { primaryTeam: otherTeamId })).toMatchObject({ status: 403 });
  expect(await as(bob, 'PATCH', path, { primaryTeam: otherTeamId })).toMatchObject({ status: 200 });
  expect((await as(ada, 'GET', path)).json.primaryTeam).toBeNull();
  expect(await as(bob, 'PATCH', `/users/${ada.user.id}`, { primaryTeam: otherTeamId })).toMatchObject(refused);
  expect(await as(bob, 'PATCH', path, { primaryTeam: team.id })).toMatchObject({
    status: 200,
    json: { primaryTeam: team.id },
  });
});

test('the last Admin of a team cannot lose the role', async () => {
  const { as, ada, bob, tom, otherTeamId, team } = await open();
  await as(tom, 'DELETE', `/teams/${otherTeamId}/members/${bob.user.id}`);
  expect(await as(ada, 'PATCH', `/users/${bob.user.id}`, { role: 'User' })).toMatchObject({ status: 200 });
  const refused = await as(undefined, 'PATCH', `/users/${ada.user.id}`, { role: 'User' });
  expect(refused).toMatchObject({ status: 409, json: { code: 'conflict' } });
  expect(await as(bob, 'POST', `/teams/${team.id}/api-keys`, { name: 'x' })).toMatchObject({ status: 403 });
});

test('a change of a user with If-Match applies only to the version that the caller has read', async () => {
  const { sendTo, ada, eve } = await open();
  const target = `/api/v2/users/${eve.user.id}`;
  const patch = (token: string, name: string, match: string) =>
    sendTo(target, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'if-match': match },
      body: JSON.stringify({ name }),
    });
  const headers = { authorization: `Bearer ${ada.token}` };
  const tag = (await sendTo(target, { headers })).headers['etag'] as string;
  const both = await Promise.all([patch(ada.token, 'Eva', tag), patch(eve.token, 'Evi', tag)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  const me = await sendTo('/api/v2/users/me', { headers: { authorization: `Bearer ${eve.token}` } });
  expect(await patch(eve.token, 'Eve', me.headers['etag'] as string)).toMatchObject({ status: 200 });
});

test('a new password is hashed only after the change is checked', async () => {
  const { as, sendTo, eve, hashed } = await open();
  const path = `/users/${eve.user.id}`;
  const own = { password: 'new password', currentPassword: 'old password' };
  await as(eve, 'PATCH', path, { ...own, role: 'Admin' });
  await as(eve, 'PATCH', path, { ...own, name: '' });
  await sendTo(`/api/v2${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${eve.token}`, 'if-match': '"seen before"' },
    body: JSON.stringify(own),
  });
  expect(hashed).toEqual([]);
  expect(await as(eve, 'PATCH', path, own)).toMatchObject({ status: 200 });
  expect(hashed).toEqual([eve.user.id]);
});

test('a user without a password cannot set a password, because the request must prove the current password', async () => {
  const { as, ada, directory } = await open();
  const user = { ...ada.user, passwordHash: noPasswordHash };
  await directory.change((tx) => tx.put('users', user.id, user));
  const change = { password: 'new password', currentPassword: 'old password' };
  const refused = await as(ada, 'PATCH', `/users/${user.id}`, change);
  expect(refused).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  expect(refused.json.detail).toContain('ask an Admin for a reset link');
});

describe('a new password', () => {
  const change = { password: 'new password', currentPassword: 'old password' };

  test('a new password signs the user out everywhere', async () => {
    const { as, eve, store, accountStore, settings, ...fixture } = await open();
    const session = await beginSession({ accountStore, settings, eve } as UsersFixture);
    expect(store.sessions.get(session.key)).toBeDefined();
    expect(await as(eve, 'PATCH', `/users/${eve.user.id}`, { name: 'Eva' })).toMatchObject({ status: 200 });
    expect(store.sessions.get(session.key)).toBeDefined();
    expect(await as(eve, 'PATCH', `/users/${eve.user.id}`, change)).toMatchObject({ status: 200 });
    expect(store.sessions.get(session.key)).toBeUndefined();
    expect(isOnList(accountStore, session.access)).toBe(true);
    const { items } = (await fixture.call('GET', '/audit?limit=1')).json;
    const target = { id: eve.user.id };
    expect(items[0]).toMatchObject({ action: 'user.password-changed', target, factors: ['password'] });
  });

  test('a caller who knows only an earlier password cannot set a new password', async () => {
    const { slowly, as, ada, eve, directory } = await open();
    const path = `/users/${eve.user.id}`;
    const late = await slowly(eve, 'PATCH', path, change);
    await as(ada, 'POST', `${path}/reset-link`, { endSessions: true });
    const { passwordHash } = directory.users.get(eve.user.id) ?? {};
    late.arrive();
    expect(await late.response).toMatchObject({ status: 409 });
    expect(directory.users.get(eve.user.id)?.passwordHash).toBe(passwordHash);
  });

  test('one of two concurrent requests sets the password, and the other is refused', async () => {
    const { as, eve } = await open();
    const path = `/users/${eve.user.id}`;
    const both = await Promise.all([as(eve, 'PATCH', path, change), as(eve, 'PATCH', path, change)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

test('wrong current passwords are throttled, and the right password works after the wait', async () => {
  const { as, eve, clock } = await open();
  const path = `/users/${eve.user.id}`;
  const guess = (currentPassword: string) => as(eve, 'PATCH', path, { password: 'new password', currentPassword });
  for (let tries = 0; tries < 5; tries += 1) expect((await guess(`guess ${tries}`)).status).toBe(403);
  const throttled = await guess('old password');
  expect(throttled).toMatchObject({ status: 429, json: { code: 'rate_limited' } });
  expect(Number(throttled.headers['retry-after'])).toBeGreaterThan(0);
  expect(await as(eve, 'PATCH', path, { name: 'Eva' })).toMatchObject({ status: 200 });
  clock.advance(Number(throttled.headers['retry-after']) * 1000);
  expect(await guess('old password')).toMatchObject({ status: 200 });
});

async function beginSession({ accountStore, settings, eve }: UsersFixture) {
  const granted = {
    userId: eve.user.id,
    clientId: 'flagmeter-console',
    signIn: 'none',
    scope: 'openid flagmeter',
    authTime: 0,
  };
  return accountStore.change((tx) => startSession(settings, tx, granted));
}
