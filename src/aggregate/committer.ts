import { Piscina } from 'piscina';
import type { Envelope } from './envelope.ts';
import type { CommitResult, WorkerStart } from './worker.ts';

/** Puts batches on disk, one at a time and in order. */
export interface Committer {
  /**
   * Resolves when the batch is durable. The envelope's arrays must not change until then.
   * @throws {CommitFailed} when nothing of the batch was kept
   */
  commit(envelope: Envelope): Promise<void>;
  /** Closes the worker's store, then the worker. */
  close(): Promise<void>;
}

/** The store did not take a batch. `code` is LMDB's or the operating system's error number, when there is one. */
export class CommitFailed extends Error {
  override readonly name = 'CommitFailed';
  readonly code: unknown;

  constructor(message: string, code: unknown) {
    super(message);
    this.code = code;
  }
}

/**
 * Starts one aggregate worker thread.
 * @param workerFile the compiled `aggregate/worker`
 * @param data the data directory
 */
export function startCommitter(workerFile: string, data: string): Committer {
  const workerData: WorkerStart = { data };
  const pool = new Piscina({ filename: workerFile, minThreads: 1, maxThreads: 1, workerData });
  return {
    async commit(envelope) {
      const result: CommitResult = await pool.run(envelope, { name: 'commit' });
      if (!result.ok) throw new CommitFailed(result.message, result.code);
    },
    async close() {
      await pool.run(undefined, { name: 'close' });
      await pool.close();
    },
  };
}
