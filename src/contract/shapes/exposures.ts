import Type, { type Static } from 'typebox';
import { count, exampleTime, listOf, shape, text, time } from './fields.ts';

const Exposure = Type.Object({
  feature: text('Name of the feature.'),
  variant: text('Name of the variant.'),
  firstSeenAt: time('When the identity first had it.'),
  lastSeenAt: time('When the identity last had it.'),
  checks: count('How often it was asked for.'),
  used: count('How often it was used.'),
  viewed: count('How often it was seen.'),
});

/** Which variant an identity had, and how often. */
export type ExposureShown = Static<typeof Exposure>;

export const Exposures = shape(
  'Exposures',
  {
    identity: text('The identity that was asked for.'),
    environment: text('Name of the environment.'),
    exposures: listOf(Exposure, 'Sorted by feature and variant.'),
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
