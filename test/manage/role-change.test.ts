import { expect, test } from 'vitest';
import { openPeopleFixture } from './people.ts';

test('a User who was made an Admin after his token was issued waits for the next one', async () => {
  const { as, ada, eve, team } = await openPeopleFixture();
  await as(ada, 'PATCH', `/users/${eve.user.id}`, { role: 'Admin' });
  expect(await as(eve, 'PATCH', `/teams/${team.id}`, { name: 'New' })).toMatchObject({ status: 403 });
});

test('an Admin who was made a User is none from the next request on', async () => {
  const { as, ada, bob, team } = await openPeopleFixture();
  await as(bob, 'PATCH', `/users/${ada.user.id}`, { role: 'User' });
  expect(await as(ada, 'PATCH', `/teams/${team.id}`, { name: 'New' })).toMatchObject({ status: 403 });
  expect(await as(ada, 'GET', `/teams/${team.id}`)).toMatchObject({ status: 200 });
});
