import Type, { type Static, type TSchema } from 'typebox';
import { count, list, number, oneOf, shape, text, time } from './fields.ts';
import { kind } from './metric.ts';

/** Nodes whose counts `completeThrough` might not cover. */
export const mayBeCounting = list(
  text('Name of a node, followed by the id of its directory if several nodes have the name.'),
  'Nodes that stopped cleanly. If such a node has restarted without reaching PostgreSQL, its counts might be missing. Absent if there are no such nodes.',
);

export const zone = text(
  'Time zone of the buckets, if the request names a time zone. `UTC` if the days of the requested zone cannot be added up from hours.',
);

const covered = {
  environment: text('Name of the environment.'),
  from: time('Start, inclusive.'),
  to: time('End, exclusive.'),
  step: oneOf(['minute', 'hour', 'day'], 'Width of the buckets.'),
  timeZone: Type.Optional(zone),
  completeThrough: Type.Optional(
    time('On several machines: the report includes everything that any node accepted before this time.'),
  ),
  mayBeCounting: Type.Optional(mayBeCounting),
};

const counts = {
  checks: count('Number of checks.'),
  used: count('Number of uses.'),
  viewed: count('Number of views.'),
  uniqueUsers: count('Distinct users on the days of `userDays`. The estimate has an error of about 2 %.'),
};

const date = (description: string) => Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description });

export const userDays = { from: date('First day (UTC).'), to: date('Last day (UTC), inclusive.') };

const UserDays = Type.Object(userDays, {
  description:
    'Days whose users are counted: the complete UTC days that overlap the range. Today is included if no user was counted on them. With `timeZone`, a range that begins at the start of a day covers the UTC days of the same dates.',
});

/** A point of a series. `items` adds no information, but linters of OpenAPI documents require it. */
export function point<Point extends readonly number[]>(...values: readonly TSchema[]) {
  const { length } = values;
  const items = { type: 'number' };
  return Type.Unsafe<Point>({ type: 'array', prefixItems: values, items, minItems: length, maxItems: length });
}

const bucket = Type.Integer({ description: 'Start of the bucket, Unix seconds.' });
const whole = Type.Integer({ minimum: 0 });

const Variant = Type.Object({
  variant: text('Name of the variant.'),
  ...counts,
  series: list(
    point<[t: number, checks: number, used: number, viewed: number]>(bucket, whole, whole, whole),
    'Buckets with counts: `[t, checks, used, viewed]`.',
  ),
});

const FeatureUsage = Type.Object({ feature: text('Name of the feature.'), ...counts, variants: list(Variant) });
export type FeatureUsage = Static<typeof FeatureUsage>;

const exampleRange = {
  environment: 'Production',
  from: '2026-01-31T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
  step: 'hour',
} as const;

const exampleCounts = { checks: 5, used: 3, viewed: 2, uniqueUsers: 2 };

export const UsageReport = shape(
  'UsageReport',
  { ...covered, uniqueUsers: counts.uniqueUsers, userDays: Type.Optional(UserDays), features: list(FeatureUsage) },
  {
    ...exampleRange,
    uniqueUsers: 2,
    userDays: { from: '2026-01-31', to: '2026-01-31' },
    features: [
      {
        feature: 'checkout',
        ...exampleCounts,
        variants: [{ variant: 'on', ...exampleCounts, series: [[1_769_860_800, 5, 3, 2]] }],
      },
    ],
  },
);
export type UsageReport = Static<typeof UsageReport>;

const MetricMeasurements = Type.Object({
  metric: text('Name of the metric.'),
  feature: Type.Optional(text('Name of the feature, for a metric of a feature.')),
  variant: Type.Optional(text('Name of the variant of the feature.')),
  kind,
  value: number('Sum of a counter, or last value of a gauge.'),
  sum: number('Sum of all values.'),
  count: count('Number of values.'),
  last: number('Last value.'),
  lastAt: time('Time of the last value.'),
  min: number('Smallest value.'),
  max: number('Largest value.'),
  series: list(point<[t: number, value: number]>(bucket, Type.Number()), 'Buckets with values: `[t, value]`.'),
});
export type MetricMeasurements = Static<typeof MetricMeasurements>;

export const MeasurementsReport = shape(
  'MeasurementsReport',
  { ...covered, metrics: list(MetricMeasurements) },
  {
    ...exampleRange,
    metrics: [
      {
        metric: 'purchases',
        kind: 'counter',
        value: 3,
        sum: 3,
        count: 2,
        last: 1,
        lastAt: '2026-01-31T12:00:30.000Z',
        min: 1,
        max: 2,
        series: [[1_769_860_800, 3]],
      },
    ],
  },
);
export type MeasurementsReport = Static<typeof MeasurementsReport>;
