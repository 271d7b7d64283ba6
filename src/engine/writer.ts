import { closing } from '../answer-calls.ts';
import type { AccountStore } from '../store/accounts.ts';
import { transact } from '../store/transact.ts';
import { WorkerThread } from '../worker-thread.ts';
import { applyWrites } from './apply-writes.ts';
import type { Write } from './engine.ts';
import type { WorkerStart } from './worker.ts';

/** Puts writes into the store. */
export interface Writer {
  /** Resolves when they are on disk, all of them in one transaction. When it rejects, none was kept. */
  write(writes: readonly Write[]): Promise<void>;
  close(): Promise<void>;
}

/** Writes on the calling thread, which waits for the disk: for commands that do nothing else meanwhile. */
export function writeHere(store: AccountStore): Writer {
  return {
    async write(writes) {
      transact(store.lmdb, () => applyWrites(store, writes));
    },
    async close() {},
  };
}

/**
 * Starts a thread that writes. LMDB's own asynchronous transactions take as long, but more of the event loop, and one that
 * fails raises an unhandled rejection too.
 * @param workerFile the compiled `engine/worker`
 * @param data the data directory
 */
export function startWriter(workerFile: string, data: string): Writer {
  const start: WorkerStart = { data };
  const thread = new WorkerThread(workerFile, start);
  return {
    async write(writes) {
      const outcome = await thread.call('write', writes);
      if (!outcome.ok) throw Object.assign(new Error(outcome.message), { code: outcome.code });
    },
    async close() {
      await thread.call(closing);
      await thread.ended();
    },
  };
}
