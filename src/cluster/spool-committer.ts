import { type Committer, committerOf } from '../commit/committer.ts';
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
  const thread = committerOf(new WorkerThread(workerFile, start));
  return { ...thread, seal: (task) => thread.run('seal', task) as Promise<SealOutcome> };
}
