import { messageFrame } from '../../grpc/frames.ts';
import { numberField } from '../../grpc/proto-writer.ts';
import { type Signal, signals } from '../formats/otlp/request.ts';
import { metricsMessage, usageMessage } from '../formats/reports/formats.ts';
import { openIntake, type ReportIntake, type ReportTransport } from '../formats/reports/intake.ts';
import type { ReportKinds } from '../formats/reports/kinds.ts';

export interface Operation {
  readonly service: string;
  /** `/Service/Method`: the path of HTTP/2 and gRPC-Web requests. */
  readonly path: string;
  open<Incoming, Answer>(
    reports: ReportKinds,
    transport: ReportTransport<Incoming, Answer>,
  ): ReportIntake<Incoming, Answer>;
}

/** The operations of `proto/usage.proto` and `proto/metrics.proto`. */
export const operations: readonly Operation[] = [
  {
    service: 'Usage.Usage',
    path: '/Usage.Usage/SendStats',
    open: ({ deps, usage }, transport) => openIntake(deps, usage, usageMessage, transport),
  },
  {
    service: 'Metrics.Metrics',
    path: '/Metrics.Metrics/SendMetrics',
    open: ({ deps, metrics }, transport) => openIntake(deps, metrics, metricsMessage, transport),
  },
];

export interface Export {
  readonly signal: Signal;
  readonly service: string;
  readonly path: string;
}

/** The operations of OTLP (https://opentelemetry.io/docs/specs/otlp/#otlpgrpc). Over HTTP, the same requests have routes of their own. */
export const otlpExports: readonly Export[] = signals.map((signal) => {
  const name = { logs: 'Logs', metrics: 'Metrics', traces: 'Trace' }[signal];
  const service = `opentelemetry.proto.collector.${name.toLowerCase()}.v1.${name}Service`;
  return { signal, service, path: `/${service}/Export` };
});

/** The services that take data. */
export const services: readonly string[] = [...operations, ...otlpExports].map(({ service }) => service);

/** Cached answers in their frames, by the number of `stats` received: enough for most reports. */
const answers: Buffer[] = [];
const maxCachedAnswers = 1_000;

/** The answer of the operations that take reports, in its frame: the number of `stats` received. */
export function answerOf(statCount: number): Buffer {
  const known = answers[statCount];
  if (known !== undefined) return known;
  const answer = messageFrame(numberField(1, statCount));
  if (statCount < maxCachedAnswers) answers[statCount] = answer;
  return answer;
}
