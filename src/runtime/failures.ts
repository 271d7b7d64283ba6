import { Refusal, storeUnavailable } from '../contract/errors.ts';
import type { Log } from './log.ts';

/** True for errors of LMDB, and for system errors that LMDB passes on. The `code` of such an error is a number. */
export function isStoreFailure(error: unknown): boolean {
  const isOther = error instanceof DOMException; // The code of a DOMException is also a number.
  return error instanceof Error && !isOther && typeof (error as { code?: unknown }).code === 'number';
}

/** Returns the refusal to send for a failure. The details of an unexpected failure go to the log only. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isStoreFailure(error)) return new Refusal('store_unavailable', storeUnavailable.unreadable, 5);
  return new Refusal('internal', 'The request could not be served; the log has the cause');
}

/**
 * Logs failed background work that will be retried. A `Refusal` is expected, so it is logged without its stack. A
 * refusal due to unreachable PostgreSQL is not logged: the log already has the outage.
 */
export function logFailure(log: Pick<Log, 'warn'>, message: string, error: unknown): void {
  if (!(error instanceof Refusal)) log.warn(message, { error });
  else if (error.code !== 'postgres_unavailable') log.warn(message, { code: error.code, reason: error.message });
}
