import { whole } from './kinds.ts';

/** Lifetime and number of identities. */
export const identities = {
  instanceTtl: whole('Identities', 'Lifetime of an instance id after its last use, in seconds', {
    value: 'SECONDS',
    minimum: 1,
    maximum: 315_360_000,
    default: 2_592_000,
  }),
  rotationGrace: whole(
    'Identities',
    'Seconds for which an instance id remains valid after another one was minted',
    {
      value: 'SECONDS',
      minimum: 0,
      maximum: 315_360_000,
      default: 3_600,
    },
  ),
  maxIdentities: whole('Identities', 'Maximum identities per environment with retained exposures', {
    minimum: 0,
    maximum: 100_000_000,
    default: 100_000,
  }),
  exposureDays: whole('Identities', 'Retention of exposures after they were last seen, in days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 30,
  }),
};
