import Type from 'typebox';
import { notedHeader } from '../../../contract/notes.ts';
import { count } from '../../../contract/shapes/fields.ts';
import { contentTypeCheck } from '../../../http/body.ts';
import { ContentEncoding, type Endpoint, type Group, type Operation, type Refusals } from '../../../http/endpoint.ts';
import { problem } from '../../../http/responses.ts';
import { readSent } from '../../../http/sent-body.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import {
  createHandler,
  exampleKeys,
  type Format,
  IdempotencyKey,
  intakeRefusals,
  listExamples,
  Noted,
  readSenderName,
  UserAgent,
} from '../../declared.ts';
import { metricsJson, usageJson } from './formats.ts';
import { type GrpcWebDeps, grpcWeb } from './grpc-web.ts';
import { encodeResponse, openIntake, operations, type ReportTransport } from './intake.ts';
import { MetricsReportSchema, UsageReportSchema } from './json.ts';

export const reports: Format<GrpcWebDeps> = {
  servers: ({ maxReport }) => [jsonEndpoints(maxReport), grpcWeb],
  calls: operations.map(({ service, path, open }) => ({
    service,
    path,
    open: ({ reportKinds }, transport) => open(reportKinds, { ...transport, accept: encodeResponse }),
  })),
  introduction: `**gRPC.** \`Usage.Usage/SendStats\` and \`Metrics.Metrics/SendMetrics\` accept the same reports by gRPC on its own listener, and by
gRPC-Web (binary and text) on this host, at \`/Usage.Usage/SendStats\` and \`/Metrics.Metrics/SendMetrics\`. The gRPC listener has server
reflection for them, and accepts OTLP/gRPC as well; this document does not cover it.`,
};

const jsonEndpoints = (maxReport: number): Group<GrpcWebDeps> => ({
  tag: 'Reports',
  description: 'Usage and metrics reports of servers.',
  endpoints: [usage(maxReport), metrics(maxReport)],
});

const usage = (maxReport: number): Endpoint<GrpcWebDeps> => ({
  ...endpoint('/api/usage/stats', {
    operationId: 'sendUsageStats',
    summary: 'Report feature usage of a server',
    description: `${description}\n\nEquivalent to the gRPC call \`Usage.Usage/SendStats\`.`,
    ...bodies(UsageReportSchema, 'featureCount', usageExamples),
    refuses: refuses(maxReport),
  }),
  bind: ({ reportKinds: { deps, usage } }) =>
    createHandler(openIntake(deps, usage, usageJson, jsonTransport('featureCount', maxReport))),
});

const metrics = (maxReport: number): Endpoint<GrpcWebDeps> => ({
  ...endpoint('/api/metrics', {
    operationId: 'sendMetrics',
    summary: 'Report metrics of a server',
    description: `${description}\n\nEquivalent to the gRPC call \`Metrics.Metrics/SendMetrics\`.`,
    ...bodies(MetricsReportSchema, 'count', metricsExamples),
    refuses: {
      ...refuses(maxReport),
      invalid_body: 'The body must have at least one of stats, counters, observations',
    },
  }),
  bind: ({ reportKinds: { deps, metrics } }) =>
    createHandler(openIntake(deps, metrics, metricsJson, jsonTransport('count', maxReport))),
});

function endpoint(path: string, operation: Operation): Omit<Endpoint, 'bind'> {
  return {
    method: 'POST',
    path,
    noOptions: true,
    access: { credential: 'Any application key in the body', who: 'Servers of the application' },
    operation: { ...operation, security: [], parameters: [UserAgent, ContentEncoding, IdempotencyKey] },
  };
}

const description = `Checked in this order: 503, 413, 400, 404, 429. A refused report changes nothing. Unknown fields are ignored,
and optional ones may be \`null\` or \`[]\`. A value of a wrong type is refused with 400, and so is a negative or fractional count. The
detail names the path of the first such value. An entry with an invalid name is left out, and so are a metric without a finite
value, a variant with a too large count, and a hash that is not an integer. The rest is counted. \`Flagmeter-Noted\` names
the first of these. Features, variants and metrics over the limits of the environment are counted as \`__other__\`. The ledger notes
all of these, and the response counts all entries. A name may be a number, and an empty map
\`[]\`, as PHP encodes them.

The key is in the body (\`appKey\`), and may be of any type. This operation is for SDKs and servers, not for browsers:
no response has CORS headers, and \`OPTIONS\` gets 405.

A report that is repeated within 10 minutes is accepted but not counted again, even after a restart. A repetition has the same
environment, \`instanceName\`, \`processStartTime\`, \`time\` and content, and its \`time\` is finer than a millisecond. A report
with a coarser \`time\` always counts, because several processes can send equal reports. An \`Idempotency-Key\` always identifies retries.

A report with a future \`time\` is counted now. A report older than the retention of minutes is counted in its hour or day.
A report older than all retention is counted in the oldest day.`;

interface Example {
  readonly summary: string;
  readonly sent: object;
  /** Number of entries in `stats`. */
  readonly counted: number;
}

function bodies(
  schema: object,
  field: string,
  examples: Readonly<Record<string, Example>>,
): Pick<Operation, 'body' | 'responses'> {
  const response = {
    schema: Type.Object({ [field]: count('Entries of `stats` in the report.') }),
    examples: listExamples(examples, ({ counted }) => ({ [field]: counted })),
  };
  return {
    body: { 'application/json': { schema, examples: listExamples(examples, ({ sent }) => sent) } },
    responses: {
      200: {
        description: 'The report is counted and on disk.',
        headers: { [notedHeader]: Noted },
        content: { 'application/json': response },
      },
    },
  };
}

const head = { appKey: exampleKeys.Backend, environment: 'Production', time: '2026-01-31T12:00:00Z' };
const process = { instanceName: 'web-1', processStartTime: '2026-01-31T08:00:00Z' };

const usageExamples = {
  variants: {
    summary: 'Counts of two variants, and hashes of the evaluated users',
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
    counted: 1,
  },
  legacy: {
    summary: 'Counts without variants, from older SDKs',
    sent: { ...head, stats: [{ feature: 'checkout', enabledCount: 5, disabledCount: 7, usedCount: 3 }] },
    counted: 1,
  },
  nothing: { summary: 'Nothing happened', sent: { ...head, stats: [] }, counted: 0 },
};

const metricsExamples = {
  values: {
    summary: 'A counter, a counter by variant of a feature, and a gauge',
    sent: {
      ...head,
      ...process,
      stats: [
        { metric: 'purchases', value: 2 },
        { metric: 'purchases', feature: 'checkout', variantValues: { on: 2, off: 1 } },
      ],
      observations: [{ metric: 'queue-length', time: '2026-01-31T11:59:30Z', value: 17 }],
    },
    counted: 2,
  },
  counters: {
    summary: 'Counters, which are summed too but not included in `count`',
    sent: { ...head, counters: [{ metric: 'page-views', value: 120 }] },
    counted: 0,
  },
};

const refuses = (maxReport: number): Refusals => ({
  ...intakeRefusals(maxReport),
  invalid_content_type: 'Send application/json, in UTF-8',
  invalid_idempotency_key: 'Idempotency-Key must have 1 to 255 printable ASCII characters',
  invalid_body: 'stats[0] must be an object',
  invalid_name: 'The name of the environment must have 1 to 256 UTF-8 bytes and no control characters',
  invalid_time: 'time must be like 2026-01-31T12:00:00Z',
  unknown_key: 'appKey is not a key of any application',
  unknown_environment: 'environment must name an environment of the application; case matters',
});

/** @param countName name of the response field with the number of `stats` */
function jsonTransport(countName: string, maxReport: number): ReportTransport<Request, HttpResponse> {
  return {
    transport: 'http',
    userAgent: readSenderName,
    idempotencyKey: (request) => request.header('idempotency-key'),
    address: (request) => request.remoteAddress,
    read: (request, budget) => readSent(request, maxReport, budget),
    check: (request) => checkContentType(request.header('content-type')),
    accept: (statCount, _, omission) => ({
      status: 200,
      headers: omission === undefined ? jsonHeaders : { ...jsonHeaders, [notedHeader]: omission },
      body: `{"${countName}":${statCount}}`,
    }),
    refuse: (refusal) => problem(refusal),
  };
}

const jsonHeaders = { 'content-type': 'application/json' };
const checkContentType = contentTypeCheck('application/json');
