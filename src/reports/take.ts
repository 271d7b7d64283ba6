import { ApiError } from '../errors.ts';
import { checkIdempotencyKey } from '../ingest/message-identity.ts';
import { beginningOf } from '../ingest/peek.ts';
import type {
  MetricsReport,
  ReportGlimpse,
  ReportReceiver,
  ReportRoute,
  Sender,
  UsageReport,
} from './report.ts';

/** How one kind of report comes in one format, and where it goes. */
export interface ReportFormat<Report extends UsageReport | MetricsReport> {
  readonly route: ReportRoute;
  /** @throws {ApiError} of status 400, saying what is wrong */
  readonly decode: (bytes: Uint8Array) => Report;
  /** Makes out what it can of a report that was refused, even of one that cannot be decoded. */
  readonly glimpse: (bytes: Uint8Array) => ReportGlimpse;
  /** @throws {ApiError} as the receiver does */
  readonly handOver: (
    receiver: ReportReceiver,
    report: Report,
    sender: Sender,
    bytes: number,
  ) => Promise<void>;
}

/** A report on its way in, as its transport sees it. */
export interface Arrival {
  readonly transport: Sender['transport'];
  readonly userAgent: string | undefined;
  /** The `Idempotency-Key` as it was sent. */
  readonly idempotencyKey: string | undefined;
  /** The report's bytes, or what waits for them. @throws {ApiError} when there are none to be had */
  readonly body: Uint8Array | (() => Promise<Uint8Array>);
  /** Says what the transport has against the report. @throws {ApiError} */
  readonly check: (bytes: Uint8Array) => void;
}

/**
 * Takes a report, whatever it comes by. Checked in the order 503, 413, 400, 404, 429; the ledger is told of each refusal.
 * @returns the number of `stats` received, once the report is on disk
 * @throws {ApiError} nothing has changed then
 */
export async function takeReport<Report extends UsageReport | MetricsReport>(
  receiver: ReportReceiver,
  { route, decode, glimpse, handOver }: ReportFormat<Report>,
  { transport, userAgent, idempotencyKey, body, check }: Arrival,
): Promise<number> {
  const { bodies } = receiver;
  let bytes = typeof body === 'function' ? undefined : body;
  let held: Uint8Array | undefined;
  let report: Report | undefined;
  try {
    receiver.admit();
    if (typeof body === 'function') bytes = await body();
    else bodies.hold(body);
    held = bytes!;
    const turn = bodies.turn(held, () => receiver.charge(glimpse(beginningOf(held!)), held!.length));
    if (turn !== undefined) {
      await turn;
      receiver.admit();
    }
    check(held);
    const key = checkIdempotencyKey(idempotencyKey);
    report = decode(held);
    const { statCount } = report;
    const kept = handOver(receiver, report, { transport, userAgent, idempotencyKey: key }, held.length);
    bodies.release(held);
    held = undefined;
    await kept;
    return statCount;
  } catch (error) {
    if (error instanceof ApiError) {
      receiver.refused(
        error,
        route,
        { transport, userAgent },
        report ?? (bytes && glimpse(beginningOf(bytes))) ?? {},
      );
    }
    throw error;
  } finally {
    if (held !== undefined) bodies.release(held);
  }
}
