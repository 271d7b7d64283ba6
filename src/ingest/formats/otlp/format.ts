import { messageFrame } from '../../../grpc/frames.ts';
import { contentTypeCheck } from '../../../http/body.ts';
import type { Group } from '../../../http/endpoint.ts';
import { readSent } from '../../../http/sent-body.ts';
import type { Reply, Request } from '../../../http/types.ts';
import { handlerOf } from '../../declared.ts';
import type { Format } from '../../format.ts';
import { Pipeline } from '../../pipeline.ts';
import { acceptance, partialSuccess, refusalOf } from './answer.ts';
import { type Encoding, encodings } from './formats.ts';
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
    bind: (deps) => handlerOf(new Pipeline(deps, otlpHandler(deps, signal, httpTransport(deps, signal)))),
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
      open: (deps, transport) =>
        new Pipeline(deps, otlpHandler(deps, signal, { ...transport, ...callAnswers })),
    };
  }),
  introduction: `**OpenTelemetry.** \`POST /v1/logs\`, \`/v1/metrics\` and \`/v1/traces\` accept OTLP/HTTP 1.x, as protobuf or JSON, with any application key in
\`Authorization\` or \`x-api-key\`. Only the evaluations of feature flags in it are counted.`,
};

const callAnswers = {
  encodingOf: () => 'protobuf' as const,
  accept: (rejected: number, message: string) => messageFrame(partialSuccess(rejected, message)),
};

function httpTransport({ maxReport }: OtlpDeps, signal: Signal): OtlpTransport<Request, Reply> {
  return {
    transport: 'http',
    headersOf: (request) => request,
    userAgent: (request) => request.header('user-agent'),
    address: (request) => request.remoteAddress,
    read: (request, budget) => readSent(request, maxReport, budget),
    encodingOf(request) {
      checkContentType(request.header('content-type'));
      return encodingOf(request)!;
    },
    accept: (rejected, message, request) => acceptance(encodingOf(request)!, signal, rejected, message),
    refuse: (refusal, request) => refusalOf(refusal, encodingOf(request)),
  };
}

const checkContentType = contentTypeCheck(...Object.keys(encodings));

function encodingOf(request: Request): Encoding | undefined {
  const type = (request.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  return Object.hasOwn(encodings, type) ? encodings[type as keyof typeof encodings] : undefined;
}
