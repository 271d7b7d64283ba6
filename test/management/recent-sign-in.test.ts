import { expect, test } from 'vitest';
import { maxSignInAge } from '../../src/contract/step-up.ts';
import { openUsersFixture } from './people.ts';

test('a dangerous change requires a sign-in in the last fifteen minutes, and other changes do not', async () => {
  const { as, ada, eve, clock } = await openUsersFixture();
  const path = `/users/${eve.user.id}`;
  clock.advance(maxSignInAge * 1000);
  expect(await as(ada, 'PATCH', path, { role: 'Admin' })).toMatchObject({ status: 200 });
  clock.advance(1000);
  const refused = await as(ada, 'PATCH', path, { role: 'User' });
  expect(refused).toMatchObject({ status: 401, json: { code: 'insufficient_user_authentication' } });
  const challenge = /^Bearer error="insufficient_user_authentication".* max_age="?900"?/;
  expect(refused.headers['www-authenticate']).toMatch(challenge);
  expect(await as(ada, 'GET', path)).toMatchObject({ status: 200 });
  expect(await as(ada, 'PATCH', path, { name: 'Eva' })).toMatchObject({ status: 200 });
});

test('an API key does not need a recent sign-in', async () => {
  const { call, eve, clock } = await openUsersFixture();
  clock.advance((maxSignInAge + 1) * 1000);
  const changed = await call('PATCH', `/users/${eve.user.id}`, { role: 'Admin' });
  expect(changed).toMatchObject({ status: 200 });
});

test('a dangerous route requires a recent sign-in for every request body', async () => {
  const { as, ada, eve, team, clock } = await openUsersFixture();
  clock.advance((maxSignInAge + 1) * 1000);
  const key = { name: 'ci', scopes: ['read'] };
  for (const [method, path, body] of [
    ['DELETE', `/users/${eve.user.id}`],
    ['POST', `/teams/${team.id}/api-keys`, key],
  ] as const) {
    const refused = await as(ada, method, path, body);
    expect(refused).toMatchObject({ status: 401, json: { code: 'insufficient_user_authentication' } });
  }
});
