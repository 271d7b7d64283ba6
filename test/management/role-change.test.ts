import { expect, test } from 'vitest';
import { openUsersFixture } from './people.ts';

test('a User who becomes an Admin has the permissions of an Admin with the next request', async () => {
  const { as, ada, eve, team } = await openUsersFixture();
  await as(ada, 'PATCH', `/users/${eve.user.id}`, { role: 'Admin' });
  expect(await as(eve, 'PATCH', `/teams/${team.id}`, { name: 'New' })).toMatchObject({ status: 200 });
});

test('an Admin who becomes a User loses the permissions of an Admin with the next request', async () => {
  const { as, ada, bob, team } = await openUsersFixture();
  await as(bob, 'PATCH', `/users/${ada.user.id}`, { role: 'User' });
  expect(await as(ada, 'PATCH', `/teams/${team.id}`, { name: 'New' })).toMatchObject({ status: 403 });
  expect(await as(ada, 'GET', `/teams/${team.id}`)).toMatchObject({ status: 200 });
});
