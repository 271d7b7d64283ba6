import type { Refusal } from '../../../contract/errors.ts';
import { numberField } from '../../../grpc/protobuf.ts';
import { messageFrame } from '../../../grpc/protocol.ts';
import { type Intake, type MessageHandler, Pipeline, type Transport } from '../../pipeline.ts';
import { metricsMessage, type ReportFormat, usageMessage } from './formats.ts';
import type { ReportKind, ReportKinds, ReportSender } from './kinds.ts';
import { LongReport } from './long-report.ts';
import type { Report } from './report.ts';

export interface ReportTransport<Incoming, Outgoing> extends Transport<Incoming> {
  isRetry?(incoming: Incoming): boolean;
  /** Refuses messages that the transport does not allow. @throws {Refusal} */
  check(incoming: Incoming): void;
  /** Returns the received beginning of the report if `read` was not called or failed. */
  beginning?(incoming: Incoming): Uint8Array | undefined;
  /** @param statCount number of `stats` received @param omission first entry that was left out: see `recordNotes` */
  accept(statCount: number, incoming: Incoming, omission: string | undefined): Outgoing;
  refuse(refusal: Refusal, incoming: Incoming): Outgoing;
}

function getHead(message: Report | LongReport) {
  return message instanceof LongReport ? message.report : message;
}

export function openIntake<Incoming, R extends Report, Outgoing>(
  deps: ReportKinds['deps'],
  kind: ReportKind<R>,
  format: ReportFormat<R>,
  transport: ReportTransport<Incoming, Outgoing>,
): Intake<Incoming, Outgoing> {
  const peek = (incoming: Incoming, beginning = transport.beginning?.(incoming)) =>
    beginning === undefined ? {} : format.peek(beginning);
  const createSource = (incoming: Incoming) => ({
    transport: transport.transport,
    userAgent: transport.userAgent(incoming),
    ...(transport.isRetry?.(incoming) && { isRetry: true as const }),
  });
  const handler: MessageHandler<Incoming, R | LongReport, ReportSender, Outgoing> = {
    ...transport,
    route: kind.route,
    long: {
      schedule: (sender, work) => deps.decoder.schedule(sender, work),
      async decode(body, incoming, unpacked) {
        transport.check(incoming);
        const report = await deps.decoder.decode(body, format.name, unpacked);
        transport.check(incoming); // The call could have ended during decoding.
        return { message: new LongReport(report), entries: report.work };
      },
      prepare: (message, sender, incoming, nextStep) =>
        kind.prepare(message as LongReport, sender, createSource(incoming), nextStep),
    },
    check(body, incoming) {
      transport.check(incoming);
      return format.decode(body);
    },
    resolve: (message) => kind.resolve(getHead(message)),
    count(message, sender, incoming, key) {
      const { durable, omission } = kind.count(message, sender, createSource(incoming), key);
      return { durable, response: transport.accept(getHead(message).statCount, incoming, omission) };
    },
    claimedSender: getHead,
    peek,
  };
  return new Pipeline(deps, handler);
}

interface Operation {
  readonly service: string;
  /** Path of HTTP/2 and gRPC-Web requests in the form `/Service/Method`. */
  readonly path: string;
  open<Incoming, Outgoing>(
    reports: ReportKinds,
    transport: ReportTransport<Incoming, Outgoing>,
  ): Intake<Incoming, Outgoing>;
}

/** Operations of `proto/usage.proto` and `proto/metrics.proto`. */
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

/** Cached framed responses by the number of received `stats`. The cache covers most reports. */
const responses: Buffer[] = [];
const maxCachedResponses = 1_000;

export function encodeResponse(statCount: number): Buffer {
  const known = responses[statCount];
  if (known !== undefined) return known;
  const response = messageFrame(numberField(1, statCount));
  if (statCount < maxCachedResponses) responses[statCount] = response;
  return response;
}
