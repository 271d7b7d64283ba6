import type { ApiError } from '../../../contract/errors.ts';
import { numberField } from '../../../grpc/protobuf.ts';
import { messageFrame } from '../../../grpc/protocol.ts';
import { type Intake, type MessageHandler, Pipeline, type Transport } from '../../pipeline.ts';
import { metricsMessage, type ReportFormat, usageMessage } from './formats.ts';
import type { ReportKind, ReportKinds, ReportSender } from './kinds.ts';
import { LongReport } from './long-report.ts';
import type { Report } from './report.ts';

export interface ReportTransport<Incoming, Answer> extends Transport<Incoming> {
  isRetry?(incoming: Incoming): boolean;
  /** Refuses what the transport does not allow. @throws {ApiError} */
  check(incoming: Incoming): void;
  /** The part of the report received if `read` was not called or failed. */
  beginning?(incoming: Incoming): Uint8Array | undefined;
  /** @param statCount number of `stats` received @param omission what was left out: see `recordNotes` */
  accept(statCount: number, incoming: Incoming, omission: string | undefined): Answer;
  refuse(refusal: ApiError, incoming: Incoming): Answer;
}

function headOf(message: Report | LongReport) {
  return message instanceof LongReport ? message.report : message;
}

export function openIntake<Incoming, R extends Report, Answer>(
  deps: ReportKinds['deps'],
  kind: ReportKind<R>,
  format: ReportFormat<R>,
  transport: ReportTransport<Incoming, Answer>,
): Intake<Incoming, Answer> {
  const peek = (incoming: Incoming, beginning = transport.beginning?.(incoming)) =>
    beginning === undefined ? {} : format.peek(beginning);
  const sourceOf = (incoming: Incoming) => ({
    transport: transport.transport,
    userAgent: transport.userAgent(incoming),
    ...(transport.isRetry?.(incoming) && { isRetry: true as const }),
  });
  const handler: MessageHandler<Incoming, R | LongReport, ReportSender, Answer> = {
    ...transport,
    route: kind.route,
    long: {
      inTurn: (sender, work) => deps.decoder.inTurn(sender, work),
      async decode(body, incoming, unpacked) {
        transport.check(incoming);
        const report = await deps.decoder.decode(body, format.name, unpacked);
        transport.check(incoming); // The call may have ended meanwhile.
        return { message: new LongReport(report), entries: report.work };
      },
      prepare: (message, sender, incoming, nextStep) =>
        kind.prepare(message as LongReport, sender, sourceOf(incoming), nextStep),
    },
    check(body, incoming) {
      transport.check(incoming);
      return format.decode(body);
    },
    resolve: (message) => kind.resolve(headOf(message)),
    count(message, sender, incoming, key) {
      const { durable, omission } = kind.count(message, sender, sourceOf(incoming), key);
      return { durable, answer: transport.accept(headOf(message).statCount, incoming, omission) };
    },
    claimedSender: headOf,
    peek,
  };
  return new Pipeline(deps, handler);
}

interface Operation {
  readonly service: string;
  /** `/Service/Method`: the path of HTTP/2 and gRPC-Web requests. */
  readonly path: string;
  open<Incoming, Answer>(reports: ReportKinds, transport: ReportTransport<Incoming, Answer>): Intake<Incoming, Answer>;
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
