import { parameterNamed } from '../../http/openapi/headers.ts';
import type { Json } from '../../http/openapi/json-schema.ts';
import { one } from './answers.ts';
import { kind } from './metrics.ts';
import type { Resource } from './operation.ts';
import { inQuery, range } from './parameters.ts';
import { count, fields, listOf, oneOf, type Shape, text, time } from './shape.ts';

const covered = {
  environment: text('Name of the environment.'),
  from: time('The beginning, included.'),
  to: time('The end, not included.'),
  step: oneOf(['minute', 'hour', 'day'], 'The width of the buckets.'),
};

const bucket = { type: 'integer', description: 'The start of a bucket, Unix seconds.' };

const counts = {
  checks: count('How often it was asked for.'),
  used: count('How often it was used.'),
  viewed: count('How often it was seen.'),
  uniqueUsers: count('Users of the whole UTC days that the report touches, within 2 %.'),
};

/** A point of a series. Linters ask what its items are, beside what each of them is. */
function pointOf(...values: readonly Json[]): Json {
  const { length } = values;
  return {
    type: 'array',
    prefixItems: values,
    items: { type: 'number' },
    minItems: length,
    maxItems: length,
  };
}

const whole = { type: 'integer', minimum: 0 };

const usageReport: Shape = {
  name: 'UsageReport',
  schema: fields({
    ...covered,
    uniqueUsers: counts.uniqueUsers,
    features: listOf(
      fields({
        feature: text('Name of the feature.'),
        ...counts,
        variants: listOf(
          fields({
            variant: text('Name of the variant.'),
            ...counts,
            series: listOf(
              pointOf(bucket, whole, whole, whole),
              'Buckets with something in them: `[t, checks, used, viewed]`.',
            ),
          }),
        ),
      }),
    ),
  }),
  example: {
    environment: 'Production',
    from: '2026-01-31T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
    step: 'hour',
    uniqueUsers: 2,
    features: [
      {
        feature: 'checkout',
        checks: 5,
        used: 3,
        viewed: 2,
        uniqueUsers: 2,
        variants: [
          {
            variant: 'on',
            checks: 5,
            used: 3,
            viewed: 2,
            uniqueUsers: 2,
            series: [[1_769_860_800, 5, 3, 2]],
          },
        ],
      },
    ],
  },
};

const number = (description: string) => ({ type: 'number', description });

const measurementsReport: Shape = {
  name: 'MeasurementsReport',
  schema: fields({
    ...covered,
    metrics: listOf(
      fields(
        {
          metric: text('Name of the metric.'),
          feature: text('Name of the feature, when it is a metric of one.'),
          variant: text("Name of the feature's variant that the numbers are of."),
          ...kind,
          value: number('The sum of a counter, the last number of a gauge.'),
          sum: number('The sum of all numbers.'),
          count: count('How many numbers came.'),
          last: number('The last number.'),
          lastAt: time('When the last number was measured.'),
          min: number('The least number.'),
          max: number('The greatest number.'),
          series: listOf(
            pointOf(bucket, { type: 'number' }),
            'Buckets with something in them: `[t, value]`.',
          ),
        },
        ['feature', 'variant'],
      ),
    ),
  }),
  example: {
    environment: 'Production',
    from: '2026-01-31T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
    step: 'hour',
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
};

const query = [parameterNamed('Environment'), ...range, parameterNamed('Step')];

const words = `Without \`to\` it ends now, without \`from\` it is a day long. What is rolled up by now is there in whole hours or
days, and the range is widened to them. Everything that was answered 202 or 200 before the request is in it.`;

const refusals = {
  invalid_query: 'environment is missing',
  unknown_environment: 'The application has no such environment',
  too_many_points:
    'The report would have more than 200000 points: take a wider step or a shorter range, or ask for one feature or metric',
  backpressure: 'Too many reports are waiting',
} as const;

/** `/applications/{id}/usage` and `/applications/{id}/measurements`. */
export const reports: Resource = {
  tag: 'Reports',
  words: 'What was counted and measured.',
  shapes: [usageReport, measurementsReport],
  routes: {
    'GET /applications/:id/usage': {
      operationId: 'reportUsage',
      summary: 'Report how features were used',
      description: words,
      query: [...query, inQuery('feature', 'Only this feature.')],
      answers: { 200: one(usageReport, 'The report.') },
      refusals,
    },
    'GET /applications/:id/measurements': {
      operationId: 'reportMeasurements',
      summary: 'Report what was measured',
      description: words,
      query: [...query, inQuery('metric', 'Only this metric.')],
      answers: { 200: one(measurementsReport, 'The report.') },
      refusals,
    },
  },
};
