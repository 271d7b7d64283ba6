import type { LargeBodies } from '../admission/large-bodies.ts';
import type { ApiError } from '../errors.ts';
import {
  type ClaimedSender,
  type MessageHandler,
  Pipeline,
  type PipelineDeps,
  recordRefusal,
} from '../ingest/pipeline.ts';
import type { LedgerSource } from '../ledger/ledger.ts';
import type { ReportKind, ReportSender } from './kinds.ts';
import type { Report } from './report.ts';

/** How one kind of report is written in one format. */
export interface ReportFormat<R extends Report> {
  /** @throws {ApiError} of status 400, saying what is wrong */
  decode(body: Uint8Array): R;
  /** Reads the sender from the beginning of a report, even of one that cannot be decoded. */
  peek(beginning: Uint8Array): ClaimedSender;
}

/** How reports of any kind come by one transport. `Incoming` is a request or a call, `Answer` what it is answered. */
export interface ReportTransport<Incoming, Answer> {
  readonly transport: LedgerSource['transport'];
  userAgent(incoming: Incoming): string | undefined;
  /** The `Idempotency-Key` as it was sent. */
  idempotencyKey(incoming: Incoming): string | undefined;
  /** The report's bytes, taken from the budget. @throws {ApiError} */
  read(incoming: Incoming, budget: LargeBodies): Uint8Array | Promise<Uint8Array>;
  /** Refuses what the transport does not allow. @throws {ApiError} */
  check(incoming: Incoming): void;
  /** What is here of the report when `read` was not called or failed. */
  beginning?(incoming: Incoming): Uint8Array | undefined;
  /** @param statCount the number of `stats` received */
  accept(statCount: number, incoming: Incoming): Answer;
  refuse(refusal: ApiError, incoming: Incoming): Answer;
}

/** Takes one kind of report by one transport, in the steps of `Pipeline`. */
export interface ReportIntake<Incoming, Answer> {
  /** Answers when the report is on disk. @throws what is no `ApiError` */
  receive(incoming: Incoming): Answer | Promise<Answer>;
  /** Tells the ledger of a report that the transport refuses by itself. */
  refused(incoming: Incoming, refusal: ApiError): void;
}

/** Joins what a kind of report, a format and a transport each know of the steps. */
export function openIntake<Incoming, R extends Report, Answer>(
  deps: PipelineDeps,
  kind: ReportKind<R>,
  format: ReportFormat<R>,
  transport: ReportTransport<Incoming, Answer>,
): ReportIntake<Incoming, Answer> {
  const peek = (incoming: Incoming, beginning = transport.beginning?.(incoming)) =>
    beginning === undefined ? {} : format.peek(beginning);
  const handler: MessageHandler<Incoming, R, ReportSender, Answer> = {
    route: kind.route,
    transport: transport.transport,
    userAgent: transport.userAgent,
    idempotencyKey: transport.idempotencyKey,
    read: transport.read,
    check(body, incoming) {
      transport.check(incoming);
      return format.decode(body);
    },
    resolve: kind.resolve,
    count(report, sender, incoming, key) {
      const source = { transport: transport.transport, userAgent: transport.userAgent(incoming) };
      const durable = kind.count(report, sender, source, key);
      return { durable, answer: transport.accept(report.statCount, incoming) };
    },
    refuse: transport.refuse,
    claimedSender: (report) => report,
    peek,
  };
  const pipeline = new Pipeline(deps, handler);
  return {
    receive: (incoming) => pipeline.receive(incoming),
    refused: (incoming, refusal) => void recordRefusal(deps, handler, incoming, refusal, peek(incoming)),
  };
}
