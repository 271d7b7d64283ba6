import { Piscina } from 'piscina';
import type { Envelope } from './envelope.ts';
import type { Maintenance } from './maintain.ts';
import type { Outcome, WorkerStart } from './worker.ts';

/** The way to one aggregate worker, which does one thing at a time and in order. */
export interface Committer {
  /**
   * Resolves when the batch is durable. The envelope's arrays must not change until then.
   * @throws {CommitFailed} when nothing of the batch was kept
   */
  commit(envelope: Envelope): Promise<void>;
  /**
   * Does one small step of upkeep; gives how much it did, 0 when nothing is left to do.
   * @throws {CommitFailed} when nothing of it was kept
   */
  maintain(step: Maintenance): Promise<number>;
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
 * @param maxIdentities people an environment whose exposures are kept
 */
export function startCommitter(workerFile: string, data: string, maxIdentities = 100_000): Committer {
  const workerData: WorkerStart = { data, maxIdentities };
  const pool = new Piscina({ filename: workerFile, minThreads: 1, maxThreads: 1, workerData });
  async function run<T>(name: string, task: unknown): Promise<T> {
    const outcome: Outcome<T> = await pool.run(task, { name });
    if (outcome.ok) return outcome.value;
    throw new CommitFailed(outcome.message, outcome.code);
  }
  return {
    commit: (envelope) => run('commit', envelope),
    maintain: (step) => run('maintain', step),
    async close() {
      await pool.run(undefined, { name: 'close' });
      await pool.close();
    },
  };
}
