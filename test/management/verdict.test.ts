import { expect, test } from 'vitest';
import { verdictKinds } from '../../src/contract/verdicts.ts';
import { judge, type VerdictFacts } from '../../src/management/verdict.ts';
import {
  ago,
  api,
  dayMs,
  factsOf,
  now,
  onlyOn,
  place,
  sender,
  sightOf,
  silent,
  used,
} from './support/verdict-facts.ts';

const others = sender('__other__', 0);

/** Cases: the facts, and the verdict with its age in days and its environments. */
const cases: readonly (readonly [string, VerdictFacts, string, number | null, string])[] = [
  ['used', factsOf([place('P', { sight: used, reporters: [api] })]), 'in_use', 100, 'P'],
  [
    'used in one of two',
    factsOf([place('P', { sight: used }), place('S', { sight: silent })]),
    'in_use',
    100,
    'P',
  ],
  [
    'used, though nothing is known of its senders',
    factsOf([place('P', { sight: used })]),
    'in_use',
    100,
    'P',
  ],
  ['without named variants', factsOf([place('P', { sight: sightOf([100, 0]) })]), 'in_use', 100, 'P'],
  [
    'first seen six days ago',
    factsOf([place('P', { sight: sightOf([6, 0], { on: [6, 0] }) })]),
    'new',
    6,
    'P',
  ],
  [
    'first seen seven days ago',
    factsOf([place('P', { sight: sightOf([7, 0], { on: [7, 0] }) })]),
    'in_use',
    7,
    'P',
  ],
  [
    'new in one of two',
    factsOf([place('P', { sight: used }), place('S', { sight: sightOf([1, 0]) })]),
    'in_use',
    100,
    'P S',
  ],
  [
    'declared six days ago, not seen',
    factsOf([place('P', { reporters: [api] })], { createdAt: ago(6) }),
    'new',
    6,
    '',
  ],
  [
    'declared long ago, not seen',
    factsOf([place('P', { reporters: [api] }), place('S')]),
    'not_seen',
    300,
    'P',
  ],
  ['declared long ago where nothing reports', factsOf([place('P'), place('S')]), 'cannot_tell', 300, 'P S'],
  [
    'one variant',
    factsOf([place('P', { sight: onlyOn }), place('S', { sight: onlyOn })]),
    'one_variant',
    100,
    'P S',
  ],
  [
    'one variant after another one',
    factsOf([place('P', { sight: sightOf([100, 0], { on: [50, 0], off: [100, 31] }) })]),
    'one_variant',
    31,
    'P',
  ],
  [
    'another variant not so long ago',
    factsOf([place('P', { sight: sightOf([100, 0], { on: [50, 0], off: [100, 29] }) })]),
    'in_use',
    100,
    'P',
  ],
  [
    'another variant elsewhere',
    factsOf([place('P', { sight: onlyOn }), place('S', { sight: sightOf([90, 0], { off: [90, 0] }) })]),
    'in_use',
    100,
    'P S',
  ],
  [
    'another variant elsewhere, long ago',
    factsOf([place('P', { sight: onlyOn }), place('S', { sight: sightOf([90, 60], { off: [90, 60] }) })]),
    'one_variant',
    60,
    'P',
  ],
  [
    'one variant for twenty days',
    factsOf([place('P', { sight: sightOf([20, 0], { on: [20, 0] }) })]),
    'in_use',
    20,
    'P',
  ],
  [
    'one variant since before times were kept',
    factsOf([place('P', { sight: sightOf([null, 0], { on: [null, 0] }) })]),
    'one_variant',
    null,
    'P',
  ],
  [
    'variants over the limit only',
    factsOf([place('P', { sight: sightOf([100, 0], { __other__: [100, 0] }) })]),
    'in_use',
    100,
    'P',
  ],
  [
    'one variant, archived but not asked for since',
    factsOf([place('P', { sight: onlyOn })], { archived: true, archivedAt: ago(-1) }),
    'in_use',
    100,
    'P',
  ],
  [
    'silent while its environment reports',
    factsOf([place('P', { sight: silent, reporters: [api] })]),
    'not_seen',
    40,
    'P',
  ],
  [
    'silent for thirty days to the minute',
    factsOf([place('P', { sight: sightOf([100, 30]), reporters: [api] })]),
    'in_use',
    100,
    'P',
  ],
  ['silent where nothing ever reported', factsOf([place('P', { sight: silent })]), 'cannot_tell', 40, 'P'],
  [
    'silent where reports have stopped',
    factsOf([place('P', { sight: silent, reporters: [sender('api', 31)] })]),
    'cannot_tell',
    40,
    'P',
  ],
  [
    'silent where one of two environments reports',
    factsOf([place('P', { sight: silent, reporters: [api] }), place('S', { sight: silent })]),
    'cannot_tell',
    40,
    'S',
  ],
  [
    'silent, and never seen in the one that does not report',
    factsOf([place('P', { sight: silent, reporters: [api] }), place('S')]),
    'not_seen',
    40,
    'P',
  ],
  [
    'silent, asked for by a server of another version',
    factsOf([
      place('P', { sight: silent, reporters: [api], askers: [{ ...sender('api', 40), version: '0.9' }] }),
    ]),
    'safe_to_remove',
    40,
    'P',
  ],
  [
    'silent, asked for by a server that is gone',
    factsOf([place('P', { sight: silent, reporters: [api], askers: [sender('batch', 40)] })]),
    'cannot_tell',
    40,
    'P',
  ],
  [
    'silent, asked for by another browser',
    factsOf([
      place('P', {
        sight: silent,
        reporters: [sender('Chrome', 0, 'telemetry')],
        askers: [sender('Opera', 40, 'telemetry')],
      }),
    ]),
    'safe_to_remove',
    40,
    'P',
  ],
  [
    'silent, asked for by browsers that are gone',
    factsOf([place('P', { sight: silent, reporters: [api], askers: [sender('Opera', 40, 'telemetry')] })]),
    'cannot_tell',
    40,
    'P',
  ],
  [
    'silent, asked for by servers beyond the limit',
    factsOf([place('P', { sight: silent, reporters: [others], askers: [others] })]),
    'not_seen',
    40,
    'P',
  ],
  [
    'silent, asked for by browsers beyond the limit',
    factsOf([
      place('P', {
        sight: silent,
        reporters: [sender('Chrome', 0, 'telemetry')],
        askers: [sender('__other__', 40, 'telemetry')],
      }),
    ]),
    'safe_to_remove',
    40,
    'P',
  ],
  [
    'silent, with known senders in one of two environments',
    factsOf([
      place('P', { sight: silent, reporters: [api], askers: [sender('api', 40)] }),
      place('S', { sight: silent, reporters: [api] }),
    ]),
    'not_seen',
    40,
    'P S',
  ],
  [
    'silent for so long that its senders are forgotten',
    factsOf([place('P', { sight: sightOf([300, 91]), reporters: [api] })]),
    'safe_to_remove',
    91,
    'P',
  ],
  [
    'silent for ninety days to the minute, with unknown senders',
    factsOf([place('P', { sight: sightOf([300, 90]), reporters: [api] })]),
    'not_seen',
    90,
    'P',
  ],
  [
    'silent since before times were kept',
    factsOf([place('P', { sight: sightOf([null, null]), reporters: [api] })]),
    'not_seen',
    null,
    'P',
  ],
  [
    'archived and silent',
    factsOf([place('P', { sight: silent, reporters: [api] })], { archived: true, archivedAt: ago(35) }),
    'not_seen',
    40,
    'P',
  ],
  [
    'archived but asked for',
    factsOf([place('P', { sight: used }), place('S', { sight: silent })], {
      archived: true,
      archivedAt: ago(3),
    }),
    'archived_but_asked',
    3,
    'P',
  ],
  [
    'archived, then asked for, then silent',
    factsOf([place('P', { sight: silent, reporters: [api] })], { archived: true, archivedAt: ago(60) }),
    'not_seen',
    40,
    'P',
  ],
  [
    'archived at a time that was not kept',
    factsOf([place('P', { sight: used })], { archived: true }),
    'archived_but_asked',
    null,
    'P',
  ],
  ['permanent', factsOf([place('P', { sight: onlyOn })], { permanent: true }), 'permanent', null, 'P'],
  [
    'permanent, archived but asked for',
    factsOf([place('P', { sight: used })], { permanent: true, archived: true, archivedAt: ago(3) }),
    'archived_but_asked',
    3,
    'P',
  ],
  ['snoozed', factsOf([place('P', { sight: onlyOn })], { snoozedUntil: now + 1 }), 'snoozed', null, 'P'],
  [
    'snoozed, archived but asked for',
    factsOf([place('P', { sight: used })], { snoozedUntil: now + 1, archived: true }),
    'snoozed',
    null,
    'P',
  ],
  [
    'snoozed until now',
    factsOf([place('P', { sight: onlyOn })], { snoozedUntil: now }),
    'one_variant',
    100,
    'P',
  ],
];

test.each(cases)('a feature that is %s', (_, facts, kind, since, environments) => {
  const judged = judge(facts);
  expect({ ...judged, since: judged.since === null ? null : (now - judged.since) / dayMs }).toMatchObject({
    kind,
    since,
    environments: environments.split(' ').filter((name) => name !== ''),
  });
});

test('every rule has a case', () => {
  expect(new Set(cases.map(([, , kind]) => kind))).toEqual(new Set(verdictKinds));
});
