import type { Refusal } from '../../../contract/errors.ts';
import { bytesField, joinFields, numberField } from '../../../grpc/protobuf.ts';
import { messageFrame } from '../../../grpc/protocol.ts';
import { contentTypeCheck } from '../../../http/body.ts';
import type { Group } from '../../../http/endpoint.ts';
import { problem } from '../../../http/responses.ts';
import { readSent } from '../../../http/sent-body.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import { createHandler, type Format } from '../../declared.ts';
import { Pipeline } from '../../pipeline.ts';
import { type Encoding, encodings } from './decode.ts';
import { type OtlpDeps, type OtlpTransport, otlpHandler } from './handler.ts';
import { type Signal, signals } from './request.ts';

export const otlpEndpoints: Group<OtlpDeps> = {
  tag: 'OpenTelemetry',
  description: 'Flag evaluations in the telemetry of OpenTelemetry.',
  endpoints: signals.map((signal) => ({
    method: 'POST',
    path: `/v1/${signal}`,
    noOptions: true,
    access: {
      credential: 'Any application key in `Authorization` or `x-api-key`',
      who: 'Servers and collectors of the application',
    },
    bind: (deps) => createHandler(new Pipeline(deps, otlpHandler(deps, signal, httpTransport(deps, signal)))),
  })),
};

export const otlp: Format<OtlpDeps> = {
  servers: () => [otlpEndpoints],
  // https://opentelemetry.io/docs/specs/otlp/#otlpgrpc
  calls: signals.map((signal) => {
    const name = { logs: 'Logs', metrics: 'Metrics', traces: 'Trace' }[signal];
    const service = `opentelemetry.proto.collector.${name.toLowerCase()}.v1.${name}Service`;
    return {
      service,
      path: `/${service}/Export`,
      open: (deps, transport) => new Pipeline(deps, otlpHandler(deps, signal, { ...transport, ...callResponses })),
    };
  }),
  introduction: `**OpenTelemetry.** \`POST /v1/logs\`, \`/v1/metrics\` and \`/v1/traces\` accept OTLP/HTTP 1.x, as protobuf or JSON, with any application key in
\`Authorization\` or \`x-api-key\`. Only the evaluations of feature flags in these requests are counted.`,
};

const callResponses = {
  readEncoding: () => 'protobuf' as const,
  accept: (rejected: number, message: string) => messageFrame(partialSuccess(rejected, message)),
};

function httpTransport({ maxReport }: OtlpDeps, signal: Signal): OtlpTransport<Request, HttpResponse> {
  return {
    transport: 'http',
    getHeaders: (request) => request,
    userAgent: (request) => request.header('user-agent'),
    address: (request) => request.remoteAddress,
    read: (request, budget) => readSent(request, maxReport, budget),
    readEncoding(request) {
      checkContentType(request.header('content-type'));
      return readEncoding(request)!;
    },
    accept: (rejected, message, request) => acceptance(readEncoding(request)!, signal, rejected, message),
    refuse: (refusal, request) => encodeRefusal(refusal, readEncoding(request)),
  };
}

const checkContentType = contentTypeCheck(...Object.keys(encodings));

function readEncoding(request: Request): Encoding | undefined {
  const type = (request.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  return Object.hasOwn(encodings, type) ? encodings[type as keyof typeof encodings] : undefined;
}

/** Content types of export responses (https://opentelemetry.io/docs/specs/otlp), by the request's encoding. */

const types: Readonly<Record<Encoding, string>> = { protobuf: 'application/x-protobuf', json: 'application/json' };

/** Name of the JSON field with the number of rejected records, by signal. */
const rejectedNames: Readonly<Record<Signal, string>> = {
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
  traces: 'rejectedSpans',
};

const accepted: Readonly<Record<Encoding, HttpResponse>> = {
  protobuf: { status: 200, headers: { 'content-type': types.protobuf }, body: new Uint8Array(0), isReused: true },
  json: { status: 200, headers: { 'content-type': types.json }, body: '{}', isReused: true },
};

/** Encodes a protobuf response, which is empty if no record was rejected. @param message human-readable reason */
function partialSuccess(rejected: number, message: string): Uint8Array {
  if (rejected === 0) return nothing;
  return bytesField(1, joinFields(numberField(1, rejected), bytesField(2, message)));
}

const nothing = new Uint8Array(0);

function acceptance(encoding: Encoding, signal: Signal, rejected: number, message: string): HttpResponse {
  if (rejected === 0) return accepted[encoding];
  const headers = { 'content-type': types[encoding] };
  if (encoding === 'protobuf') return { status: 200, headers, body: partialSuccess(rejected, message) };
  const inJson = { [rejectedNames[signal]]: String(rejected), errorMessage: message };
  return { status: 200, headers, body: JSON.stringify({ partialSuccess: inJson }) };
}

/** Encodes a refusal as a `google.rpc.Status`, or as a problem document if the encoding is unknown. */
function encodeRefusal(refusal: Refusal, encoding: Encoding | undefined): HttpResponse {
  const response = problem(refusal);
  if (encoding === undefined) return response;
  const message = `${refusal.code}: ${refusal.message}`;
  return {
    ...response,
    headers: { ...response.headers, 'content-type': types[encoding] },
    body: encoding === 'json' ? JSON.stringify({ message }) : bytesField(2, message),
  };
}
