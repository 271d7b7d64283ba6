import type { LmdbEnvironment } from './lmdb.ts';

/**
 * Runs `action` as one transaction, which is on disk when this returns. LMDB's asynchronous transactions are not used: a failed one
 * also raises an unhandled rejection.
 * @param undo called after a failure: nothing of it was kept
 * @throws {FileGone} if the file was removed or replaced
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
