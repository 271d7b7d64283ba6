import Type, { type Static } from 'typebox';
import { boolean, count, list, oneOf, orNull, shape, text, time } from './fields.ts';
import { owned } from './owner.ts';
import { mayBeCounting, point, userDays, zone } from './reports.ts';
import { FeatureSplit } from './split.ts';
import { staleAfterDays, verdictKind } from './verdict.ts';

const unixSeconds = (description: string) => Type.Integer({ minimum: 0, description });
const whole = Type.Integer({ minimum: 0 });

const counts = {
  checks: count('Number of checks.'),
  used: count('Number of uses.'),
  viewed: count('Number of views.'),
};

const totals = {
  ...counts,
  accepted: count('Number of accepted packets and reports in all hours that overlap the range.'),
  refused: count('Number of refused packets and reports in the same hours.'),
};

const span = { from: time('Start, inclusive.'), to: time('End, exclusive.') };

const byBucket = (description: string) => list(whole, description);

const series = {
  checks: byBucket('Checks by bucket.'),
  used: byBucket('Uses by bucket.'),
  viewed: byBucket('Views by bucket.'),
};

/** The previous range, and the part of the requested range with which the previous range is compared. */
const Before = Type.Object({
  ...span,
  ...totals,
  series: Type.Optional(
    Type.Object(series, {
      description:
        'Counts by bucket, in the order of time. The first bucket corresponds to the first bucket of the requested range.',
    }),
  ),
  against: Type.Object(
    { ...span, ...totals },
    {
      description:
        'Counts in the part of the requested range that has the same length. Compare the previous range with these counts, not with the totals.',
    },
  ),
});

const Users = Type.Object({ count: count('Distinct users, within 2 %.'), ...userDays });

const UsersBefore = Type.Object({
  ...Users.properties,
  against: Type.Object(Users.properties, {
    description:
      'Users in the same number of completed days of the requested range. Compare the previous users with this number.',
  }),
});

const grid = { start: unixSeconds('Start of the first bucket.'), length: count('Number of buckets.') };

const width = Type.Integer({ minimum: 60, description: 'Width of a bucket in seconds.' });

const Hourly = Type.Object({
  ...grid,
  accepted: byBucket('Accepted packets and reports by hour.'),
  refused: byBucket('Refused packets and reports by hour.'),
});

const OverviewFeature = Type.Object({
  feature: text('Name of the feature.'),
  ...counts,
  compared: Type.Optional(
    Type.Unsafe<[checks: number, before: number]>({
      type: 'array',
      items: { type: 'integer', minimum: 0 },
      minItems: 2,
      maxItems: 2,
      description:
        'Checks in the compared part of the requested range, and in the previous range (see `before`). Absent if the feature was first seen after the start of the previous range.',
    }),
  ),
  spark: byBucket('Checks by bucket of the sparkline.'),
  variants: list(
    Type.Unsafe<[variant: string, checks: number]>({
      type: 'array',
      prefixItems: [Type.String(), whole],
      items: { type: ['string', 'integer'] },
      minItems: 2,
      maxItems: 2,
    }),
    'Variants with checks, sorted by number of checks, at most eight. If there are more variants, the last item, `…`, stands for the remaining variants.',
  ),
  firstSeenAt: orNull(time('Time when the feature was first seen in this environment, to the minute.')),
  lastSeenAt: orNull(time('Time when the feature was last seen in this environment, to the minute.')),
  declared: boolean('True if the team has declared the feature.'),
  archived: boolean('True if the team has archived the feature.'),
  permanent: boolean('True if the feature is meant to stay.'),
  snoozedUntil: orNull(time('Time until which the verdict is postponed.')),
  ...owned,
  verdict: verdictKind('Kind of the verdict. The path `…/verdict` returns the reasons.'),
  recentVariants: Type.Optional(
    count('Number of variants seen within `staleAfterDays` in all environments, if the verdict is `in_use`.'),
  ),
  split: Type.Optional(FeatureSplit),
  checksOnly: Type.Optional(
    list(
      text('A source, such as Unleash.'),
      'Present if the senders of the feature in this environment do not report use and views. Then `used` and `viewed` are unknown, not 0.',
    ),
  ),
});
export type OverviewFeature = Static<typeof OverviewFeature>;

/** Archived features are counted in `archivedButAsked` only. */
const States = Type.Object({
  safeToRemove: count('Number of features whose senders all still report, but no longer check the feature.'),
  stale: count(
    'Number of features that showed no sign of use while senders kept reporting. The number includes `safeToRemove`.',
  ),
  oneVariant: count('Number of features with a single variant in use.'),
  undeclared: count('Number of features that were seen, but are not declared.'),
  archivedButAsked: count('Number of features that are archived, but still checked.'),
  leakedKeys: count('Number of Backend keys of the application that were seen in packets.'),
  snoozed: count('Number of features whose verdict is postponed.'),
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
    from: time('Start, inclusive.'),
    to: time('End, exclusive.'),
    step: oneOf(['minute', 'hour', 'day'], 'Width of the buckets.'),
    timeZone: Type.Optional(zone),
    at: time('Time when the response was computed. The bucket that contains this time is incomplete.'),
    completeThrough: time('The report includes everything that was accepted before this time.'),
    mayBeCounting: Type.Optional(mayBeCounting),
    checksOnly: list(
      text('A source, such as Unleash.'),
      'Sources of the environment, if no sender reports use and views; empty otherwise.',
    ),
    staleAfterDays,
    totals: Type.Object(totals),
    before: orNull(
      Before,
      'The previous range, for comparison; `null` with `compare=none`, or if the previous range begins before the retained data.',
    ),
    users: Type.Object(Users.properties, {
      description:
        'Distinct users in the complete UTC days that overlap the range. Today is included if no user was counted on them. With `timeZone`, a range that begins at the start of a day covers the UTC days of the same dates.',
    }),
    usersBefore: orNull(
      UsersBefore,
      'Users in the preceding days; `null` if these days precede the retained data, or no day of the range is over.',
    ),
    ...grid,
    width,
    starts: Type.Optional(
      list(
        whole,
        'Start of each bucket, Unix seconds, if the buckets are days of a time zone. Such days have 23 to 25 hours.',
      ),
    ),
    series: Type.Object(series),
    hourly: Hourly,
    days: list(point<[day: number, users: number]>(whole, whole), 'Distinct users by UTC day: `[t, users]`.'),
    states: States,
    spark: Type.Object(
      { ...grid, width },
      { description: 'Buckets of the sparklines, at most 30. The first and the last can extend beyond the range.' },
    ),
    features: list(OverviewFeature, 'All features that were seen or declared, sorted by number of checks.'),
  },
  {
    environment: 'Production',
    from: '2026-01-25T12:00:00.000Z',
    to: '2026-01-26T12:00:00.000Z',
    step: 'day',
    at: '2026-01-26T12:00:00.000Z',
    completeThrough: '2026-01-26T12:00:00.000Z',
    checksOnly: [],
    staleAfterDays: 30,
    totals: { checks: 5, used: 3, viewed: 2, accepted: 5, refused: 0 },
    before: exampleBefore,
    users: { count: 2, from: '2026-01-25', to: '2026-01-25' },
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
    states: { safeToRemove: 0, stale: 0, oneVariant: 1, undeclared: 0, archivedButAsked: 0, leakedKeys: 0, snoozed: 0 },
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
        owners: [],
        ownersFrom: null,
        tags: [],
        verdict: 'one_variant',
      },
    ],
  },
);
export type Overview = Static<typeof Overview>;

export const OverviewUsers = shape(
  'OverviewUsers',
  {
    from: Users.properties.from,
    to: Users.properties.to,
    features: list(
      Type.Object({
        feature: text('Name of the feature.'),
        users: count('Distinct users of the feature in these days. The estimate has an error of about 2 %.'),
      }),
      'Features, in the order of the request.',
    ),
  },
  { from: '2026-01-25', to: '2026-01-26', features: [{ feature: 'checkout', users: 2 }] },
);
export type OverviewUsers = Static<typeof OverviewUsers>;
