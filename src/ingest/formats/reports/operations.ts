import { messageFrame } from '../../../grpc/frames.ts';
import { numberField } from '../../../grpc/proto-writer.ts';
import type { Intake } from '../../pipeline.ts';
import { metricsMessage, usageMessage } from './formats.ts';
import { openIntake, type ReportTransport } from './intake.ts';
import type { ReportKinds } from './kinds.ts';

export interface Operation {
  readonly service: string;
  /** `/Service/Method`: the path of HTTP/2 and gRPC-Web requests. */
  readonly path: string;
  open<Incoming, Answer>(
    reports: ReportKinds,
    transport: ReportTransport<Incoming, Answer>,
  ): Intake<Incoming, Answer>;
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

/** Cached answers in their frames, by the number of `stats` received: enough for most reports. */
const answers: Buffer[] = [];
const maxCachedAnswers = 1_000;

export function answerOf(statCount: number): Buffer {
  const known = answers[statCount];
  if (known !== undefined) return known;
  const answer = messageFrame(numberField(1, statCount));
  if (statCount < maxCachedAnswers) answers[statCount] = answer;
  return answer;
}
