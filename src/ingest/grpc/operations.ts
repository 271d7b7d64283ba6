import { messageFrame } from '../../grpc/frames.ts';
import { numberField } from '../../grpc/proto-writer.ts';
import { metricsMessage, usageMessage } from '../reports/formats.ts';
import { openIntake, type ReportIntake, type ReportTransport } from '../reports/intake.ts';
import type { ReportKinds } from '../reports/kinds.ts';

/** An operation that takes reports. */
export interface Operation {
  /** Full name of the service. */
  readonly service: string;
  /** `/Service/Method`: the path of its HTTP/2 and of its gRPC-Web requests. */
  readonly path: string;
  /** What takes its reports by a transport. */
  open<Incoming, Answer>(
    reports: ReportKinds,
    transport: ReportTransport<Incoming, Answer>,
  ): ReportIntake<Incoming, Answer>;
}

/** What `proto/usage.proto` and `proto/metrics.proto` offer. */
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

/** Answers in their frames, by the number of `stats` received: those of most reports. */
const answers: Buffer[] = [];
const maxCachedAnswers = 1_000;

/** The answer of both operations, in its frame: the number of `stats` received. */
export function answerOf(statCount: number): Buffer {
  const known = answers[statCount];
  if (known !== undefined) return known;
  const answer = messageFrame(numberField(1, statCount));
  if (statCount < maxCachedAnswers) answers[statCount] = answer;
  return answer;
}
