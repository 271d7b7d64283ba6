import { expect, test } from 'vitest';
import { beginConsoleSession } from '../../src/auth/console-session.ts';
import { endSession } from '../../src/auth/oauth/sessions.ts';
import { startSignIn } from '../../src/auth/oauth/sign-ins.ts';
import { openUsersFixture, type SignedInUser, type UsersFixture } from './people.ts';

/** Starts a console session. @returns its key, and the headers of its requests */
async function signIn({ accountStore, settings, clock, sendTo }: UsersFixture, { user }: SignedInUser) {
  const browser = { id: 'x'.repeat(43), permanentId: 'y'.repeat(43) };
  const { key, cookie } = await accountStore.change((tx) => {
    const given = { browser, authentication: { factors: ['password'], userAgent: '' }, now: clock.now() } as const;
    const { key, authTime } = startSignIn(tx, user, given);
    const granted = { userId: user.id, signIn: key, scope: 'openid flagmeter', authTime };
    return beginConsoleSession(settings, tx, granted);
  });
  const headers = {
    cookie: `__Host-flagmeter-console=${cookie}`,
    'flagmeter-console': '1',
    'sec-fetch-site': 'same-origin',
  };
  const ask = (method: string, path: string) => sendTo(`/api/v2${path}`, { method, headers });
  return { key, headers, ask };
}

test('a console request cannot make changes if its user signs out before the body arrives', async () => {
  const fixture = await openUsersFixture();
  const { slowly, ada, as, team, accountStore, clock } = fixture;
  const { key, headers } = await signIn(fixture, ada);
  const path = `/teams/${team.id}/api-keys`;
  const body = { name: 'too late', role: 'Admin' };
  const late = await slowly(ada, 'POST', path, body, headers);
  const onTime = await slowly(ada, 'POST', path, { ...body, name: 'on time' }, headers);
  onTime.arrive();
  expect(await onTime.response).toMatchObject({ status: 201 });
  await accountStore.change((tx) => endSession({ clock }, tx, key));
  late.arrive();
  expect(await late.response).toMatchObject({ status: 401, json: { code: 'unauthorized' } });
  const keys = JSON.stringify((await as(ada, 'GET', path)).json);
  expect(keys).toContain('on time');
  expect(keys).not.toContain('too late');
});

test('a console session has the current permissions of its user', async () => {
  const fixture = await openUsersFixture();
  const { as, ada, eve, team } = fixture;
  const { ask } = await signIn(fixture, eve);
  expect(await ask('GET', '/audit')).toMatchObject({ status: 403 });
  await as(ada, 'PATCH', `/users/${eve.user.id}`, { role: 'Admin' });
  expect(await ask('GET', '/audit')).toMatchObject({ status: 200 });
  await as(ada, 'PATCH', `/users/${eve.user.id}`, { role: 'User' });
  expect(await ask('GET', '/audit')).toMatchObject({ status: 403 });
  const { json } = await ask('GET', '/users/me');
  expect(json).toMatchObject({ id: eve.user.id, teams: [team.id] });
});

test('the audit log names the user of a console session', async () => {
  const fixture = await openUsersFixture();
  const { headers } = await signIn(fixture, fixture.ada);
  const { team, ada, sendTo } = fixture;
  const body = JSON.stringify({ name: 'New' });
  await sendTo(`/api/v2/teams/${team.id}`, { method: 'PATCH', headers, body });
  const { items } = (await fixture.as(ada, 'GET', '/audit?limit=1')).json;
  expect(items[0]).toMatchObject({ action: 'team.changed', actor: { type: 'user', id: ada.user.id } });
});

test('the console sessions and tokens of one user share a rate limit', async () => {
  const fixture = await openUsersFixture(2);
  const { ask } = await signIn(fixture, fixture.eve);
  expect(await ask('GET', '/users/me')).toMatchObject({ status: 200 });
  expect(await fixture.as(fixture.eve, 'GET', '/users/me')).toMatchObject({ status: 200 });
  expect(await ask('GET', '/users/me')).toMatchObject({ status: 429 });
  const other = await signIn(fixture, fixture.ada);
  expect(await other.ask('GET', '/users/me')).toMatchObject({ status: 200 });
});

test('a console session for another scope is not valid for the API', async () => {
  const fixture = await openUsersFixture();
  const { accountStore, settings, eve, sendTo } = fixture;
  const granted = { userId: eve.user.id, signIn: 'x', scope: 'openid email', authTime: 1_767_323_045 };
  const { cookie } = await accountStore.change((tx) => beginConsoleSession(settings, tx, granted));
  const headers = { ...(await signIn(fixture, eve)).headers, cookie: `__Host-flagmeter-console=${cookie}` };
  expect(await sendTo('/api/v2/users/me', { headers })).toMatchObject({ status: 401 });
});
