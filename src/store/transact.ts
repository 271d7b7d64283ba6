import { ApiError, isStoreFailure } from '../errors.ts';
import type { LmdbEnvironment } from './lmdb.ts';

/** Whether the stores of a data directory take data, and who hears of it when they do not. */
export interface Health {
  readonly ready: boolean;
  /** A commit failed with `error`. */
  failed(error: unknown): void;
}

/**
 * Runs `action` as one transaction, which is on disk when this returns. LMDB's own asynchronous transactions are not
 * used: one that fails raises an unhandled rejection too.
 * @param undo called when it failed: nothing of it was kept
 * @throws {FileGone} when it went to a file that was removed or replaced
 * @throws whatever the action throws, and LMDB's errors, with their number as `code`
 */
export function transact<T>(lmdb: LmdbEnvironment, action: () => T, undo: () => void = () => {}): T {
  try {
    const result = lmdb.transactionSync(action);
    lmdb.fileIdentity.check();
    return result;
  } catch (error) {
    undo();
    throw error;
  }
}

/**
 * Commits what a caller waits for: `action` is one transaction, which is on disk when this returns. A failure of the
 * store is told to `health` and refuses the caller; while the store is not ready, nothing is tried.
 * @throws {ApiError} `store_unavailable`; nothing was kept then
 * @throws whatever the action throws
 */
export function commit<T>(lmdb: LmdbEnvironment, health: Health, action: () => T): T {
  if (!health.ready) throw unavailable();
  try {
    return transact(lmdb, action);
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
    health.failed(error);
    throw unavailable();
  }
}

function unavailable(): ApiError {
  return new ApiError('store_unavailable', 'The store cannot take the change; nothing of it was kept', 5);
}
