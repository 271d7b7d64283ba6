import type { Refusals } from '../http/endpoint.ts';
import { parameterNamed } from '../http/openapi/headers.ts';
import type { Json } from '../http/openapi/json-schema.ts';
import { schemaNamed } from '../http/openapi/named-schemas.ts';
import { refusalResponses } from '../http/openapi/refusals.ts';
import { bodyRefusals } from './body-refusals.ts';
import { exampleKeys } from './headers.ts';

/** `/api/usage/stats`. @param maxBody most bytes of a body */
export function usagePath(maxBody: number): Json {
  const operation = {
    operationId: 'sendUsageStats',
    summary: 'Count what a server did with features',
    description: `${words}\n\nThe same as \`Usage.Usage/SendStats\` of gRPC.`,
  };
  const more = { invalid_hash: 'One of the hashes is no such integer' };
  return reportPath(operation, 'UsageReport', usageExamples, { ...refusals(maxBody), ...more });
}

/** `/api/metrics`. @param maxBody most bytes of a body */
export function metricsPath(maxBody: number): Json {
  const operation = {
    operationId: 'sendMetrics',
    summary: 'Count what a server measured',
    description: `${words}\n\nThe same as \`Metrics.Metrics/SendMetrics\` of gRPC.`,
  };
  const more = { invalid_number: 'The value at /stats/0/value must be either number or null' };
  return reportPath(operation, 'MetricsReport', metricsExamples, { ...refusals(maxBody), ...more });
}

const words = `Checked in this order: 503, 413, 400, 404, 429. What is refused has changed nothing. Unknown fields are ignored,
and optional ones may be \`null\`. An entry whose name can be none is left out, and so is a metric without a value; features,
variants and metrics over the limits of the environment are counted as \`__other__\`. The ledger says so, and the answer
counts all entries. A name may be a number, and an empty map \`[]\`, as PHP writes them.

The key is in the body (\`appKey\`), and may be of any type. For SDKs and servers, not for browsers: no answer has CORS
headers, and \`OPTIONS\` is answered 405.

A report that comes again within 10 minutes, with the same environment, \`instanceName\`, \`processStartTime\`, \`time\` and
content, is answered as accepted and not counted again, also across a restart. What is reported from the future is
counted now, and what is older than the minutes that are kept is counted in its hour.`;

interface Examples {
  readonly [name: string]: { readonly summary: string; readonly sent: Json; readonly answer: Json };
}

function reportPath(
  operation: Json,
  schema: 'UsageReport' | 'MetricsReport',
  examples: Examples,
  refusals: Refusals,
): Json {
  const entries = Object.entries(examples);
  const shown = (pick: (example: Examples[string]) => Json) =>
    Object.fromEntries(
      entries.map(([name, example]) => [name, { summary: example.summary, value: pick(example) }]),
    );
  return {
    post: {
      ...operation,
      tags: ['Reports'],
      security: [],
      parameters: [
        parameterNamed('UserAgent'),
        parameterNamed('ContentEncoding'),
        parameterNamed('IdempotencyKey'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaNamed(schema), examples: shown(({ sent }) => sent) } },
      },
      responses: {
        200: {
          description: 'Counted, and on disk.',
          content: {
            'application/json': { schema: answers[schema], examples: shown(({ answer }) => answer) },
          },
        },
        ...refusalResponses(refusals),
      },
    },
  };
}

function answerOf(field: string): Json {
  const entries = { type: 'integer', minimum: 0, description: 'Entries of `stats` that came.' };
  return { type: 'object', required: [field], properties: { [field]: entries } };
}

const answers = { UsageReport: answerOf('featureCount'), MetricsReport: answerOf('count') };

const head = { appKey: exampleKeys.Backend, environment: 'Production', time: '2026-01-31T12:00:00Z' };
const process = { instanceName: 'web-1', processStartTime: '2026-01-31T08:00:00Z' };

const usageExamples: Examples = {
  variants: {
    summary: 'Counts of two variants, and hashes of the users who were asked about',
    sent: {
      ...head,
      ...process,
      appVersion: '1.4.0',
      stats: [
        {
          feature: 'checkout',
          variantStats: { on: { checkCount: 5, usedCount: 3, viewedCount: 2 }, off: { checkCount: 7 } },
          uniqueUserHashes: [-5023478, 1204417, '18446744073709551616'],
        },
      ],
      uniqueUserHashes: [-5023478, 1204417, '18446744073709551616'],
    },
    answer: { featureCount: 1 },
  },
  legacy: {
    summary: 'Counts without variants, as older SDKs send them',
    sent: { ...head, stats: [{ feature: 'checkout', enabledCount: 5, disabledCount: 7, usedCount: 3 }] },
    answer: { featureCount: 1 },
  },
  nothing: {
    summary: 'Nothing happened',
    sent: { ...head, stats: [] },
    answer: { featureCount: 0 },
  },
};

const metricsExamples: Examples = {
  values: {
    summary: 'A sum, a sum by variant of a feature, and a value of which the last one stays',
    sent: {
      ...head,
      ...process,
      stats: [
        { metric: 'purchases', value: 2 },
        { metric: 'purchases', feature: 'checkout', variantValues: { on: 2, off: 1 } },
      ],
      observations: [{ metric: 'queue-length', time: '2026-01-31T11:59:30Z', value: 17 }],
    },
    answer: { count: 2 },
  },
  counters: {
    summary: 'Counters: they are summed too, and `count` does not count them',
    sent: { ...head, counters: [{ metric: 'page-views', value: 120 }] },
    answer: { count: 0 },
  },
};

function refusals(maxBody: number): Refusals {
  return {
    ...bodyRefusals(maxBody),
    invalid_content_type: 'Send application/json, in UTF-8',
    invalid_idempotency_key: 'Send 1 to 255 printable ASCII characters, or leave it out',
    invalid_body: 'The value at /stats must be either array or null',
    invalid_name: 'The name of the environment must have 1 to 256 UTF-8 bytes and no control characters',
    invalid_count: 'The value at /stats/0/enabledCount must be >= 0',
    invalid_time: 'time must be like 2026-01-31T12:00:00Z',
    unknown_key: 'appKey is not a key of any application',
    unknown_environment: 'environment is not one of the application; case matters',
  };
}
