import type { Maintenance } from '../aggregate/maintain.ts';
import { closing } from '../answer-calls.ts';
import type { Histogram } from '../histogram.ts';
import { WorkerThread } from '../worker-thread.ts';
import type { Envelope } from './envelope.ts';
import type { WorkerStart } from './worker.ts';

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
  /** Settles the commits that the worker has finished, without waiting for the event loop to deliver its answers. */
  collect(): void;
  /** How long what was asked of the worker waited for it, seconds. */
  readonly delays?: Histogram;
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
 * @param workerFile the compiled `commit/worker`
 * @param data the data directory
 * @param maxIdentities people an environment whose exposures are kept
 */
export function startCommitter(workerFile: string, data: string, maxIdentities = 100_000): Committer {
  const start: WorkerStart = { data, maxIdentities };
  return committerOf(new WorkerThread(workerFile, start));
}

/** The way to a thread that writes batches, and does more when it is asked to. */
export interface CommitThread extends Committer {
  /** @throws {CommitFailed} when nothing of it was kept */
  run(name: string, task?: unknown): Promise<unknown>;
}

/** The way to a thread that answers `write`, `maintain` and `close`. */
export function committerOf(thread: WorkerThread): CommitThread {
  async function run(name: string, task?: unknown): Promise<unknown> {
    const outcome = await thread.call(name, task);
    if (outcome.ok) return outcome.value;
    throw new CommitFailed(outcome.message, outcome.code);
  }
  return {
    run,
    commit: (envelope) => run('write', envelope) as Promise<void>,
    maintain: (step) => run('maintain', step) as Promise<number>,
    collect: () => thread.collect(),
    delays: thread.delays,
    async close() {
      await thread.call(closing);
      await thread.ended();
    },
  };
}
