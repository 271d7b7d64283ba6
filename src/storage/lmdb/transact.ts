import type { LmdbEnvironment } from './lmdb.ts';

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
