import type { AccountStore } from '../store/accounts.ts';
import type { Write } from './engine.ts';

/**
 * Puts writes into the store in one transaction, on LMDB's own thread; resolves when they are on disk. When it rejects,
 * none was kept.
 *
 * A thread of ours would be as fast, but it would open the store a second time: the lock file with it, and closing that
 * again gives up the locks of the whole process (POSIX has it so). `flagmeter keys rotate` would then find the store
 * unused, and set its locks up anew beneath the running service.
 * @param also called within the transaction
 * @throws {FileGone} when it went to a file that was removed or replaced
 * @throws {Error} LMDB's, with its number as `code`
 */
export async function write(
  store: AccountStore,
  writes: readonly Write[],
  also: () => void = () => {},
): Promise<void> {
  try {
    // Only the promise of the whole batch means that it is on disk.
    await store.lmdb.batch(() => {
      for (const { table, key, value } of writes) {
        if (value === undefined) void store[table].remove(key);
        else void (store[table] as { put(key: string, value: unknown): unknown }).put(key, value);
      }
      also();
    });
  } catch (error) {
    throw await causeOf(error);
  }
  store.lmdb.fileIdentity.check();
}

/** LMDB rejects with an error that has the real one as a promise, which must not stay without a handler. */
async function causeOf(error: unknown): Promise<unknown> {
  try {
    await (error as { commitError?: Promise<never> }).commitError;
  } catch (cause) {
    return cause;
  }
  return error;
}
