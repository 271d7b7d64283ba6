import { ApiError } from '../contract/errors.ts';
import type { Log } from './log.ts';

/**
 * Logs failed background work that will be retried. An `ApiError` is an expected refusal, logged without its stack. While
 * PostgreSQL is unreachable nothing is logged, because the log already reports that.
 */
export function tellFailure(log: Pick<Log, 'warn'>, message: string, error: unknown): void {
  if (!(error instanceof ApiError)) log.warn(message, { error });
  else if (error.code !== 'engine_unavailable')
    log.warn(message, { code: error.code, reason: error.message });
}
