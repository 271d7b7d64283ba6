import { closing } from '../answer-calls.ts';
import { CommitFailed, type Committer } from '../commit/committer.ts';
import { WorkerThread } from '../worker-thread.ts';
import type { SealOutcome, SealTask } from './seal.ts';
import type { SpoolLimits } from './spool-aggregator.ts';

/** The way to the spool worker. Batches and seals are done one after the other, in the order of the calls. */
export interface SpoolCommitter extends Committer {
  /**
   * Seals some of what was counted; one delta at most.
   * @throws {CommitFailed} when nothing of it was kept
   */
  seal(task: SealTask): Promise<SealOutcome>;
}

/** What the spool worker is started with. */
export interface SpoolStart extends SpoolLimits {
  /** The data directory. */
  readonly data: string;
}

/** Starts the spool worker. @param workerFile the compiled `cluster/spool-worker` */
export function startSpoolCommitter(workerFile: string, start: SpoolStart): SpoolCommitter {
  const thread = new WorkerThread(workerFile, start);
  async function run(name: string, task?: unknown): Promise<unknown> {
    const outcome = await thread.call(name, task);
    if (outcome.ok) return outcome.value;
    throw new CommitFailed(outcome.message, outcome.code);
  }
  return {
    commit: (envelope) => run('write', envelope) as Promise<void>,
    seal: (task) => run('seal', task) as Promise<SealOutcome>,
    maintain: (step) => run('maintain', step) as Promise<number>,
    collect: () => thread.collect(),
    delays: thread.delays,
    async close() {
      await thread.call(closing);
      await thread.ended();
    },
  };
}
