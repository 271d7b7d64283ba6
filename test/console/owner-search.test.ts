import fc from 'fast-check';
import { expect, test } from 'vitest';
import { filterRows, searchWord } from '../../src/console/pages/overview/rows.ts';
import type { OverviewFeature } from '../../src/contract/shapes/overview.ts';
import { isMine, type Me, ownersText } from '../../src/contract/shapes/owned.ts';
import type { Owner } from '../../src/contract/shapes/owner.ts';

const ada: Owner = { type: 'user', id: 'user_1', name: 'Ada Lovelace' };
const team: Owner = { type: 'team', id: 'team_1', name: 'Checkout' };
const text = (name: string): Owner => ({ type: 'text', id: null, name });
const me: Me = { id: 'user_1', email: 'Ada@shop.example', teams: [{ id: 'team_1', name: 'Pay & Ship' }] };

const row = (feature: string, owners: Owner[], tags: string[] = []) =>
  ({ feature, owners, tags, declared: true, archived: false, verdict: 'in_use' }) as unknown as OverviewFeature;

const rows = [
  row('checkout', [ada], ['checkout', 'Q4']),
  row('search', [team]),
  row('banner', [text('@shop/pay-ship')], ['ui']),
  row('build-info', [], ['build']),
];

test.each([
  ['owner:ada', ['checkout']],
  ['owner:"ada lovelace"', ['checkout']],
  ['OWNER:Ada tag:q4', ['checkout']],
  ['owner:ada tag:ui', []],
  ['owner:me', ['checkout', 'search', 'banner']],
  ['owner:none', ['build-info']],
  ['tag:none', ['search']],
  ['tag:ui', ['banner']],
  ['tag:b bui', ['build-info']],
  ['owner:', ['checkout', 'search', 'banner', 'build-info']],
  ['owner', []],
])('the search "%s" finds %j', (search, found) => {
  expect(filterRows(rows, { search, state: undefined, me }).map(({ feature }) => feature)).toEqual(found);
});

test('the flags of an owner are found by the name of the owner', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: fc.constantFrom(...'aB é@/-') }), (name) => {
      fc.pre(name.trim() !== '' && !['me', 'none'].includes(name.toLowerCase()));
      const search = searchWord('owner', name);
      expect(filterRows([row('a', [text(name)])], { search, state: undefined })).toHaveLength(1);
    }),
  );
});

test.each([
  [[ada], true],
  [[team], true],
  [[text('ada@SHOP.example')], true],
  [[text('@ada')], true],
  [[text('@shop/pay-ship')], true],
  [[text('@shop/pay')], false],
  [[text('ada')], false],
  [[text('@grace')], false],
  [[{ ...ada, id: 'user_2' }], false],
  [[], false],
] as const)('a flag with the owners %j belongs to the reader: %s', (owners, mine) => {
  expect(isMine({ owners }, me)).toBe(mine);
});

test('an API key or a team without a name owns no flag', () => {
  const key: Me = { id: 'client_1', email: null, teams: [{ id: 'team_2', name: '' }] };
  for (const name of ['', '@', '@x/', 'null', '@null']) expect(isMine({ owners: [text(name)] }, key)).toBe(false);
});

test('the owners for the filter are listed by name', () => {
  expect(ownersText([ada, team])).toBe('Ada Lovelace, Checkout');
});
