import Type, { type Static } from 'typebox';
import { count, flag, listOf, oneOf, orNull, shape, text, time } from './fields.ts';
import { mayBeCounting, pointOf } from './reports.ts';
import { verdictKinds } from './verdict.ts';

/** The shapes of the overview of an environment. */

const unixSeconds = (description: string) => Type.Integer({ minimum: 0, description });
const date = (description: string) => Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description });
const whole = Type.Integer({ minimum: 0 });

const counts = {
  checks: count('How often features were asked for.'),
  used: count('How often they were used.'),
  viewed: count('How often they were seen.'),
};

const totals = {
  ...counts,
  accepted: count('Packets and reports that were accepted, in the whole hours that the range touches.'),
  refused: count('Packets and reports that were refused, in the same hours.'),
};

const span = { from: time('The beginning, included.'), to: time('The end, not included.') };

/** The range before, and the part of the range that it is compared with: both are equally long. */
const Before = Type.Object({
  ...span,
  ...totals,
  against: Type.Object(
    { ...span, ...totals },
    { description: 'The part of the range that is as long. Compare with this, not with the totals.' },
  ),
});

const Users = Type.Object({
  count: count('Users, each once, within 2 %.'),
  from: date('The first day that is covered (UTC).'),
  to: date('The last day that is covered (UTC), included.'),
});

const UsersBefore = Type.Object({
  ...Users.properties,
  against: Type.Object(Users.properties, {
    description: 'The days of the range that are over: as many. Compare with this.',
  }),
});

const grid = {
  start: unixSeconds('The start of the first bucket.'),
  length: count('How many buckets there are.'),
};

const width = Type.Integer({ minimum: 60, description: 'The width of a bucket, in seconds.' });

const byBucket = (description: string) => listOf(whole, description);

const Hourly = Type.Object({
  ...grid,
  accepted: byBucket('Packets and reports that were accepted, by hour.'),
  refused: byBucket('Packets and reports that were refused, by hour.'),
});

const FeatureRow = Type.Object({
  feature: text('Name of the feature.'),
  ...counts,
  spark: byBucket('Checks by bucket of the sparkline.'),
  variants: listOf(
    Type.Unsafe<[variant: string, checks: number]>({
      type: 'array',
      prefixItems: [Type.String(), whole],
      items: { type: ['string', 'integer'] },
      minItems: 2,
      maxItems: 2,
    }),
    'Variants that were asked for, by checks. At most eight; the others together are the last, as `…`.',
  ),
  firstSeenAt: orNull(time('When it was first seen in this environment, to the minute.')),
  lastSeenAt: orNull(time('When it was last seen in this environment, to the minute.')),
  declared: flag('Whether the team has declared it.'),
  archived: flag('Whether the team is done with it.'),
  permanent: flag('Whether it is meant to stay.'),
  snoozedUntil: orNull(time('Until when its verdict is put off.')),
  verdict: oneOf(verdictKinds, 'What can be said of it; the verdict itself has the reasons.'),
});

const States = Type.Object({
  stale: count('Features with no sign of use, while senders kept reporting.'),
  oneVariant: count('Features of which one variant only is given.'),
  undeclared: count('Features that were seen but are not declared.'),
  archivedButAsked: count('Features that are archived but still asked for.'),
  leakedKeys: count('Backend keys of the application that were seen in a packet.'),
  snoozed: count('Features whose verdict is put off.'),
});

const exampleCounts = { checks: 4, used: 2, viewed: 2, accepted: 4, refused: 0 };

const exampleBefore = {
  from: '2026-01-24T12:00:00.000Z',
  to: '2026-01-25T12:00:00.000Z',
  ...exampleCounts,
  against: { from: '2026-01-25T12:00:00.000Z', to: '2026-01-26T12:00:00.000Z', ...exampleCounts },
};

export const Overview = shape(
  'Overview',
  {
    environment: text('Name of the environment.'),
    from: time('The beginning, included.'),
    to: time('The end, not included.'),
    step: oneOf(['minute', 'hour', 'day'], 'The width of the buckets.'),
    at: time('When it was computed. The bucket that holds this time is not finished.'),
    completeThrough: time('Until when everything that was accepted is in it.'),
    mayBeCounting: Type.Optional(mayBeCounting),
    totals: Type.Object(totals),
    before: orNull(
      Type.Object(Before.properties, {
        description: 'The range before; `null` if nothing is kept from when it began.',
      }),
    ),
    users: Type.Object(Users.properties, {
      description: 'Users in the whole UTC days that the range touches.',
    }),
    usersBefore: orNull(
      Type.Object(UsersBefore.properties, {
        description:
          'Users in the days before; `null` if nothing is kept from then, or no day of the range is over.',
      }),
    ),
    ...grid,
    width,
    series: Type.Object({
      checks: byBucket('Checks by bucket.'),
      used: byBucket('Uses by bucket.'),
      viewed: byBucket('Views by bucket.'),
    }),
    hourly: Hourly,
    days: listOf(pointOf<[day: number, users: number]>(whole, whole), 'Users by UTC day: `[t, users]`.'),
    states: States,
    spark: Type.Object(
      { ...grid, width },
      {
        description:
          'The buckets of the sparklines: at most 30. The first and the last may be partly outside of the range.',
      },
    ),
    features: listOf(FeatureRow, 'Every feature that was seen or declared, by checks.'),
  },
  {
    environment: 'Production',
    from: '2026-01-25T12:00:00.000Z',
    to: '2026-01-26T12:00:00.000Z',
    step: 'day',
    at: '2026-01-26T12:00:00.000Z',
    completeThrough: '2026-01-26T12:00:00.000Z',
    totals: { checks: 5, used: 3, viewed: 2, accepted: 5, refused: 0 },
    before: exampleBefore,
    users: { count: 2, from: '2026-01-25', to: '2026-01-26' },
    usersBefore: {
      count: 2,
      from: '2026-01-24',
      to: '2026-01-24',
      against: { count: 2, from: '2026-01-25', to: '2026-01-25' },
    },
    start: 1_769_299_200,
    length: 2,
    width: 86_400,
    series: { checks: [4, 1], used: [2, 1], viewed: [2, 0] },
    hourly: { start: 1_769_428_800, length: 1, accepted: [5], refused: [0] },
    days: [
      [1_769_299_200, 2],
      [1_769_385_600, 1],
    ],
    states: { stale: 0, oneVariant: 1, undeclared: 0, archivedButAsked: 0, leakedKeys: 0, snoozed: 0 },
    spark: { start: 1_769_299_200, length: 2, width: 86_400 },
    features: [
      {
        feature: 'checkout',
        checks: 5,
        used: 3,
        viewed: 2,
        spark: [4, 1],
        variants: [['on', 5]],
        firstSeenAt: '2026-01-01T08:00:00.000Z',
        lastSeenAt: '2026-01-26T11:58:00.000Z',
        declared: true,
        archived: false,
        permanent: false,
        snoozedUntil: null,
        verdict: 'one_variant',
      },
    ],
  },
);

export type OverviewShown = Static<typeof Overview>;
export type OverviewFeature = Static<typeof FeatureRow>;

/** Users of the features that a page shows just now. */
export const OverviewUsers = shape(
  'OverviewUsers',
  {
    from: Users.properties.from,
    to: Users.properties.to,
    features: listOf(
      Type.Object({
        feature: text('Name of the feature.'),
        users: count('Users of the feature in these days, each once, within 2 %.'),
      }),
      'In the order in which they were asked for.',
    ),
  },
  { from: '2026-01-25', to: '2026-01-26', features: [{ feature: 'checkout', users: 2 }] },
);

export type OverviewUsersShown = Static<typeof OverviewUsers>;
