import Type, { type Static } from 'typebox';
import { count, exampleTime, list, shape, text, time } from './fields.ts';

const Exposure = Type.Object({
  feature: text('Name of the feature.'),
  variant: text('Name of the variant.'),
  firstSeenAt: time('First time that the identity was given the variant.'),
  lastSeenAt: time('Last time that the identity was given the variant.'),
  checks: count('Number of checks.'),
  used: count('Number of uses.'),
  viewed: count('Number of views.'),
});
export type Exposure = Static<typeof Exposure>;

export const Exposures = shape(
  'Exposures',
  {
    identity: text('The identity, as requested.'),
    environment: text('Name of the environment.'),
    exposures: list(Exposure, 'Exposures, sorted by feature and variant.'),
  },
  {
    identity: 'user-7',
    environment: 'Production',
    exposures: [
      {
        feature: 'checkout',
        variant: 'on',
        firstSeenAt: exampleTime,
        lastSeenAt: exampleTime,
        checks: 3,
        used: 2,
        viewed: 1,
      },
    ],
  },
);
