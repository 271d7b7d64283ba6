import { WorkerThread } from '../runtime/worker-thread.ts';
import type { Committer } from '../storage/commit/committer.ts';
import type { Journals } from '../storage/commit/fold.ts';
import { JournalThread } from '../storage/commit/journal-thread.ts';
import { JournaledCommitter } from '../storage/commit/journaled-committer.ts';
import { type CommittersStart, endJournals, openJournals } from '../storage/commit/start-committers.ts';
import { spoolLane as lane, readFolded, spoolLanes } from '../storage/lmdb/journal-mark.ts';
import { spoolLayout } from '../storage/lmdb/layout.ts';
import type { SpoolStore } from '../storage/lmdb/spool.ts';
import type { SealOutcome, SealTask } from './seal.ts';
import type { SpoolLimits } from './spool-aggregator.ts';

/** What keeps the batches of a node. Seals are done one after the other, in the order of the calls. */
export interface SpoolCommitter extends Committer, Pick<JournaledCommitter, 'unfolded'> {
  /**
   * Seals some of what is durable now; one delta at most.
   * @throws {CommitFailed} when nothing of it was kept
   */
  seal(task: SealTask): Promise<SealOutcome>;
}

/** What the spool worker is started with. */
export interface SpoolStart extends SpoolLimits, Journals {
  /** The data directory. */
  readonly data: string;
}

/**
 * Starts the threads that commit and fold, and folds what an earlier process has left.
 * @throws {CommitFailed} if that cannot be read or folded
 */
export async function startSpoolCommitter(
  { lmdb }: SpoolStore,
  { workerFile, data, randomBytes, ...deps }: Omit<CommittersStart, 'workers' | 'maxIdentities'>,
  limits: SpoolLimits,
): Promise<SpoolCommitter> {
  const lanes = { own: [lane], found: spoolLanes(data) };
  const { placeOf, isEmpty } = openJournals(lmdb, spoolLayout, lanes, { data, randomBytes, log: deps.log });
  const journal = placeOf(lane);
  const start: SpoolStart = { data, journal, others: [], ...limits };
  const committer = new JournaledCommitter({
    ...deps,
    journal: new JournalThread(workerFile('storage/commit/journal-worker'), journal),
    folding: new WorkerThread(workerFile('replication/spool-worker'), start),
  });
  await committer.begin(isEmpty ? readFolded(lmdb, lane) : undefined);
  return {
    commit: (envelope) => committer.commit(envelope),
    // The open delta is never old: it needs no upkeep.
    maintain: async () => 0,
    seal: (task) => committer.askFolded('seal', task) as Promise<SealOutcome>,
    collect: () => committer.collect(),
    delays: committer.delays,
    journal: committer,
    get unfolded() {
      return committer.unfolded;
    },
    async close() {
      await committer.close();
      endJournals(lmdb, spoolLayout, [committer]);
    },
  };
}
