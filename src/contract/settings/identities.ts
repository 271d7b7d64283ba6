import { whole } from './kinds.ts';

/** How long and how many identities are stored. */
export const identities = {
  instanceTtl: whole('Identities', 'Seconds that an instance id is valid after its last use', {
    value: 'SECONDS',
    minimum: 1,
    maximum: 315_360_000,
    default: 2_592_000,
  }),
  rotationGrace: whole('Identities', 'Seconds that an instance id stays valid after another was minted', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 315_360_000,
    default: 3_600,
  }),
  maxIdentities: whole('Identities', 'Identities an environment whose exposures are kept', {
    minimum: 0,
    maximum: 100_000_000,
    default: 100_000,
  }),
  exposureDays: whole('Identities', 'Days that exposures are kept after they were last seen', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 30,
  }),
};
