import { expect, test } from 'vitest';
import { verdictKinds } from '../../src/contract/verdicts.ts';
import { judge } from '../../src/reports/verdicts/verdict.ts';
import { silenceCases } from '../management/support/silence-cases.ts';
import {
  ago,
  api,
  createFacts,
  createSight,
  dayMs,
  now,
  onlyOn,
  place,
  silent,
  used,
  type VerdictCase,
} from '../management/support/verdict-facts.ts';

const cases: readonly VerdictCase[] = [
  ['used', createFacts([place('P', { sight: used, reporters: [api] })]), 'in_use', 100, 'P'],
  ['used in one of two', createFacts([place('P', { sight: used }), place('S', { sight: silent })]), 'in_use', 100, 'P'],
  ['used by unknown senders', createFacts([place('P', { sight: used })]), 'in_use', 100, 'P'],
  ['used without named variants', createFacts([place('P', { sight: createSight([100, 0]) })]), 'in_use', 100, 'P'],
  ['first seen six days ago', createFacts([place('P', { sight: createSight([6, 0], { on: [6, 0] }) })]), 'new', 6, 'P'],
  [
    'first seen seven days ago',
    createFacts([place('P', { sight: createSight([7, 0], { on: [7, 0] }) })]),
    'in_use',
    7,
    'P',
  ],
  [
    'new in one of two environments',
    createFacts([place('P', { sight: used }), place('S', { sight: createSight([1, 0]) })]),
    'in_use',
    100,
    'P S',
  ],
  [
    'declared six days ago, not seen',
    createFacts([place('P', { reporters: [api] })], { createdAt: ago(6) }),
    'new',
    6,
    '',
  ],
  [
    'one variant',
    createFacts([place('P', { sight: onlyOn }), place('S', { sight: onlyOn })]),
    'one_variant',
    100,
    'P S',
  ],
  [
    'one variant after another variant',
    createFacts([place('P', { sight: createSight([100, 0], { on: [50, 0], off: [100, 31] }) })]),
    'one_variant',
    31,
    'P',
  ],
  [
    'two variants within thirty days',
    createFacts([place('P', { sight: createSight([100, 0], { on: [50, 0], off: [100, 29] }) })]),
    'in_use',
    100,
    'P',
  ],
  [
    'another variant in another environment',
    createFacts([place('P', { sight: onlyOn }), place('S', { sight: createSight([90, 0], { off: [90, 0] }) })]),
    'in_use',
    100,
    'P S',
  ],
  [
    'another variant in another environment, long ago',
    createFacts([place('P', { sight: onlyOn }), place('S', { sight: createSight([90, 60], { off: [90, 60] }) })]),
    'one_variant',
    60,
    'P',
  ],
  [
    'one variant for twenty days',
    createFacts([place('P', { sight: createSight([20, 0], { on: [20, 0] }) })]),
    'in_use',
    20,
    'P',
  ],
  [
    'one variant, first seen at an unknown time',
    createFacts([place('P', { sight: createSight([null, 0], { on: [null, 0] }) })]),
    'one_variant',
    null,
    'P',
  ],
  [
    'only variants beyond the limit',
    createFacts([place('P', { sight: createSight([100, 0], { __other__: [100, 0] }) })]),
    'in_use',
    100,
    'P',
  ],
  [
    'one variant, archived and not checked since',
    createFacts([place('P', { sight: onlyOn })], { archived: true, archivedAt: ago(-1) }),
    'in_use',
    100,
    'P',
  ],
  [
    'archived and silent',
    createFacts([place('P', { sight: silent, reporters: [api] })], { archived: true, archivedAt: ago(35) }),
    'not_seen',
    40,
    'P',
  ],
  [
    'archived but still checked',
    createFacts([place('P', { sight: used }), place('S', { sight: silent })], { archived: true, archivedAt: ago(3) }),
    'archived_but_asked',
    3,
    'P',
  ],
  [
    'archived, then checked, then silent',
    createFacts([place('P', { sight: silent, reporters: [api] })], { archived: true, archivedAt: ago(60) }),
    'not_seen',
    40,
    'P',
  ],
  [
    'archived at an unknown time',
    createFacts([place('P', { sight: used })], { archived: true }),
    'archived_but_asked',
    null,
    'P',
  ],
  ['permanent', createFacts([place('P', { sight: onlyOn })], { permanent: true }), 'permanent', null, 'P'],
  [
    'permanent, archived but still checked',
    createFacts([place('P', { sight: used })], { permanent: true, archived: true, archivedAt: ago(3) }),
    'archived_but_asked',
    3,
    'P',
  ],
  ['snoozed', createFacts([place('P', { sight: onlyOn })], { snoozedUntil: now + 1 }), 'snoozed', null, 'P'],
  [
    'snoozed, archived but still checked',
    createFacts([place('P', { sight: used })], { snoozedUntil: now + 1, archived: true }),
    'snoozed',
    null,
    'P',
  ],
  ['snoozed until now', createFacts([place('P', { sight: onlyOn })], { snoozedUntil: now }), 'one_variant', 100, 'P'],
  ...silenceCases,
];

test.each(cases)('judge returns $2 for a feature with these facts: %s', (_, facts, kind, since, environments) => {
  const judged = judge(facts);
  expect({ ...judged, since: judged.since === null ? null : (now - judged.since) / dayMs }).toMatchObject({
    kind,
    since,
    environments: environments.split(' ').filter((name) => name !== ''),
  });
});

test('the cases for judge cover every verdict', () => {
  expect(new Set(cases.map(([, , kind]) => kind))).toEqual(new Set(verdictKinds));
});
