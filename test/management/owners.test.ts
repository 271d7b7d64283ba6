import { expect, test } from 'vitest';
import { patchFeature } from '../../src/accounts/features.ts';
import { putMember, removeMember } from '../../src/accounts/members.ts';
import { createUser, deleteUser } from '../../src/accounts/users.ts';
import { refusal } from '../auth/fixture.ts';
import { openRegistry } from './registry.ts';

const userDefaults = { role: 'User', passwordHash: 'x' } as const;

async function openOwners() {
  const registry = await openRegistry();
  const { directory, team, otherTeamId, see } = registry;
  const ada = { email: 'ada@shop.example', name: 'Ada Lovelace', teams: [team.id], ...userDefaults };
  const grace = { email: 'grace@other.example', name: 'Grace', teams: [otherTeamId], ...userDefaults };
  see({ f: { search: { on: [1] } } });
  return { ...registry, ada: await createUser(directory, ada), grace: await createUser(directory, grace) };
}

test('setting owners and tags declares an undeclared flag, and every list shows the owners and tags', async () => {
  const { ask, ada, team } = await openOwners();
  const owners = [
    { type: 'user', id: ada.id },
    { type: 'team', id: team.id },
    { type: 'text', name: ' @shop/checkout ' },
    { type: 'user', id: ada.id, name: 'ignored' },
  ];
  const tags = ['Checkout', 'Q4 ', 'checkout'];
  const patched = await ask('PATCH', '/features/search', { owners, tags });
  const shown = {
    owners: [
      { type: 'user', id: ada.id, name: 'Ada Lovelace' },
      { type: 'team', id: team.id, name: team.name },
      { type: 'text', id: null, name: '@shop/checkout' },
    ],
    ownersFrom: 'declaration',
    tags: ['Checkout', 'Q4'],
  };
  expect(patched).toMatchObject({ status: 200, json: { declared: true, ...shown } });
  expect((await ask('GET', '/features')).json.items).toMatchObject([shown]);
  const csv = await ask('GET', '/features?format=csv');
  expect(csv.text).toContain(`Ada Lovelace, ${team.name}, @shop/checkout`);
  expect(csv.text).toContain('Checkout, Q4');
  const rows = (await ask('GET', '/features?format=ndjson')).text;
  expect(JSON.parse(rows).owners).toEqual(['Ada Lovelace', team.name, '@shop/checkout']);
  // Owners from a response can be sent back, and an older entity tag is refused.
  const again = await ask('PATCH', '/features/search', { owners: shown.owners });
  expect(again.json).toMatchObject(shown);
  const ifMatch = { 'if-match': again.headers['etag']! };
  expect((await ask('PATCH', '/features/search', { tags: [] }, ifMatch)).json.tags).toEqual([]);
  expect((await ask('PATCH', '/features/search', { tags: ['x'] }, ifMatch)).status).toBe(412);
  expect((await ask('PATCH', '/features/search', { owners: [] })).json).toMatchObject({ owners: [], ownersFrom: null });
});

test('the list of features can be filtered by owner, by tag, and to features that the caller owns', async () => {
  const { ask, ada, team, names } = await openOwners();
  for (const name of ['a', 'b', 'c']) await ask('POST', '/features', { name });
  await ask('PATCH', '/features/a', { owners: [{ type: 'user', id: ada.id }], tags: ['Q4'] });
  await ask('PATCH', '/features/b', { owners: [{ type: 'team', id: team.id }] });
  const cases = [
    [`owner=${ada.id}`, ['a']],
    ['owner=ada%20lovelace', ['a']],
    ['owner=ADA@shop.example', ['a']],
    ['owner=nobody', []],
    ['tag=q4', ['a']],
    ['tag=q4&owner=x', []],
    ['mine=true', ['b']],
    ['mine=false', ['a', 'c', 'search']],
    ['mine=false&tag=q4', ['a']],
  ] as const;
  for (const [query, found] of cases) expect(await names(`/features?${query}`), query).toEqual(found);
});

test('an owner who was deleted or has left the team is shown as plain text', async () => {
  const { ask, ada, grace, directory, team, otherTeamId } = await openOwners();
  await putMember(directory, team.id, grace.id);
  const owners = [ada, grace].map(({ id }) => ({ type: 'user', id }));
  await ask('PATCH', '/features/search', { owners });
  await deleteUser(directory, ada.id);
  await removeMember(directory, team.id, grace.id);
  expect(directory.users.get(grace.id)?.teams).toEqual([otherTeamId]);
  expect((await ask('GET', '/features/search')).json.owners).toEqual([
    { type: 'text', id: null, name: 'Ada Lovelace' },
    { type: 'text', id: null, name: 'Grace' },
  ]);
});

test('a caller who is not in a team can keep the team as an owner, but cannot add the team', async () => {
  const { ask, directory, application, otherTeamId, team } = await openOwners();
  const owner = { type: 'team', id: otherTeamId } as const;
  await patchFeature(directory, application.id, 'search', { owners: [owner] });
  const { owners } = (await ask('GET', '/features/search')).json;
  const more = [...owners, { type: 'team', id: team.id }];
  expect(await ask('PATCH', '/features/search', { owners: more })).toMatchObject({
    status: 200,
    json: { owners: [owner, { id: team.id }] },
  });
  expect((await ask('PATCH', '/features/search', { owners: [] })).status).toBe(200);
  expect(await ask('PATCH', '/features/search', { owners: [owner] })).toMatchObject({ status: 400 });
});

test.each([
  ['an unknown user', [{ type: 'user', id: 'user_x' }]],
  ['a text without a name', [{ type: 'text' }]],
  ['a user without an id', [{ type: 'user', name: 'Ada' }]],
  ['a blank text', [{ type: 'text', name: '  ' }]],
  ['more than eight owners', Array.from({ length: 9 }, (_, at) => ({ type: 'text', name: `${at}` }))],
  ['a control character', [{ type: 'text', name: 'a\u0000b' }]],
  ['another type', [{ type: 'group', id: 'x' }]],
])('owners of a feature are refused, and nothing changes: %s', async (_, owners) => {
  const { ask } = await openOwners();
  expect(await ask('PATCH', '/features/search', { owners })).toMatchObject(refusal(400, 'invalid_body'));
  expect((await ask('GET', '/features/search')).json.declared).toBe(false);
});

test("owners that do not belong to the application's team are refused", async () => {
  const { ask, grace, otherTeamId } = await openOwners();
  for (const owner of [
    { type: 'user', id: grace.id },
    { type: 'team', id: otherTeamId },
  ]) {
    expect((await ask('PATCH', '/features/search', { owners: [owner] })).json.code).toBe('invalid_body');
  }
});

test.each([[['']], [[' ']], [['a'.repeat(51)]], [Array.from({ length: 17 }, (_, at) => `${at}`)]])(
  'the tags %j are refused',
  async (tags) => {
    const { ask } = await openOwners();
    expect((await ask('PATCH', '/features/search', { tags })).json.code).toBe('invalid_body');
  },
);
