import type { ApiError } from '../../../contract/errors.ts';
import { type Intake, type MessageHandler, Pipeline, type Transport } from '../../pipeline.ts';
import type { ReportFormat } from './formats.ts';
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
