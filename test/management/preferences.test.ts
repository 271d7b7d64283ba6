import { expect, test } from 'vitest';
import { openUsersFixture } from './people.ts';

const path = '/users/me/preferences';
const defaults = { timeZone: null, columns: {}, favourites: [] };

test('each user has their own preferences, and a change keeps the omitted fields', async () => {
  const { as, ada, eve } = await openUsersFixture();
  expect(await as(eve, 'GET', path)).toMatchObject({ status: 200, json: defaults });
  const changed = await as(eve, 'PATCH', path, { timeZone: 'Europe/Berlin', columns: { flags: ['users'] } });
  const expected = { ...defaults, timeZone: 'Europe/Berlin', columns: { flags: ['users'] } };
  expect(changed).toMatchObject({ status: 200, json: expected });
  const more = { columns: { flags: null, ingest: ['checks'] }, favourites: ['view_1'] };
  expect((await as(eve, 'PATCH', path, more)).json).toEqual({
    timeZone: 'Europe/Berlin',
    columns: { ingest: ['checks'] },
    favourites: ['view_1'],
  });
  expect((await as(eve, 'PATCH', path, { timeZone: null })).json).toMatchObject({ timeZone: null });
  expect((await as(ada, 'GET', path)).json).toEqual(defaults);
});

test('a change of preferences leaves the user, its entity tag and the audit log unchanged', async () => {
  const { as, ada, eve } = await openUsersFixture();
  const read = async () => [
    (await as(ada, 'GET', `/users/${eve.user.id}`)).json,
    (await as(ada, 'GET', '/audit')).json,
  ];
  const before = await read();
  await as(eve, 'PATCH', path, { timeZone: 'Asia/Tokyo' });
  expect(await read()).toEqual(before);
});

test.each(['Europe/Atlantis', '+01:00', 'europe berlin', '../etc/passwd'])(
  'the unknown time zone %s is refused, and the error names the time zone',
  async (timeZone) => {
    const { as, eve } = await openUsersFixture();
    const refused = await as(eve, 'PATCH', path, { timeZone });
    expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_body' } });
    expect(JSON.stringify(refused.json)).toContain(timeZone);
    expect((await as(eve, 'GET', path)).json).toEqual(defaults);
  },
);

test('the size of preferences is limited', async () => {
  const { as, eve } = await openUsersFixture();
  const many = (count: number) => Array.from({ length: count }, (_, index) => `name-${index}`);
  const wide = await as(eve, 'PATCH', path, { columns: { flags: many(41) } });
  expect(wide).toMatchObject({ status: 400, json: { code: 'invalid_body' } });
  const pages = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, ['users']]));
  expect(await as(eve, 'PATCH', path, { columns: pages(many(20)) })).toMatchObject({ status: 200 });
  const over = await as(eve, 'PATCH', path, { columns: { more: ['users'] } });
  expect(over).toMatchObject({ status: 403, json: { code: 'plan_limit' } });
});
