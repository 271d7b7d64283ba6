import { ApiError } from '../contract/errors.ts';
import type { Log } from './log.ts';

/**
 * Tells of background work that failed and is done again later. An `ApiError` is a refusal that is expected: where it was thrown tells
 * nothing. While the engine is away nothing is told, since the log has said that already.
 */
export function tellFailure(log: Pick<Log, 'warn'>, message: string, error: unknown): void {
  if (!(error instanceof ApiError)) log.warn(message, { error });
  else if (error.code !== 'engine_unavailable')
    log.warn(message, { code: error.code, reason: error.message });
}
