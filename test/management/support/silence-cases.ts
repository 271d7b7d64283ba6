import { api, factsOf, others, place, sender, sightOf, silent, type VerdictCase } from './verdict-facts.ts';

/** Features that were not seen recently. */
export const silenceCases: readonly VerdictCase[] = [
  [
    'declared long ago, not seen',
    factsOf([place('P', { reporters: [api] }), place('S')]),
    'not_seen',
    300,
    'P',
  ],
  ['declared long ago where nothing reports', factsOf([place('P'), place('S')]), 'cannot_tell', 300, 'P S'],
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
    factsOf([place('P', { sight: silent, reporters: [others], askers: [sender('__other__', 40)] })]),
    'not_seen',
    40,
    'P',
  ],
  [
    'silent by the times of a report that has just arrived',
    factsOf([place('P', { sight: silent, reporters: [api], askers: [api] })]),
    'cannot_tell',
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
];
