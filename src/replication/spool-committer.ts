import { WorkerThread } from '../runtime/worker-thread.ts';
import type { Committer } from '../storage/commit/committer.ts';
import { JournalThread } from '../storage/commit/journal-thread.ts';
import { JournaledCommitter } from '../storage/commit/journaled-committer.ts';
import { type CommittersStart, endJournals, openJournals } from '../storage/commit/start-committers.ts';
import { spoolLane as lane, spoolLanes } from '../storage/journal/place.ts';
import { readFolded, spoolLayout } from '../storage/lmdb/layout.ts';
import type { SpoolStore } from '../storage/lmdb/usage.ts';
import type { SealResult, SealTask } from './seal.ts';
import type { SpoolLimits } from './spool-aggregator.ts';
import type { SpoolActions, SpoolStart } from './spool-worker.ts';

/** Commits the batches of a node. Seals run one after another, in the order of the calls. */
export interface SpoolCommitter extends Committer, Pick<JournaledCommitter, 'unfolded'> {
  /** Seals at most one delta of durable counts. @throws {Error} nothing was sealed */
  seal(task: SealTask): Promise<SealResult>;
}

/**
 * Starts the threads that commit batches and fold (add) them to the spool. Folds the batches of an earlier process.
 * @throws {CommitError} if these batches cannot be read or folded
 */
export async function startSpoolCommitter(
  { lmdb }: SpoolStore,
  { workerFile, data, randomBytes, producers, ...deps }: Omit<CommittersStart, 'workers' | 'maxIdentities'>,
  limits: SpoolLimits,
): Promise<SpoolCommitter> {
  const lanes = { own: [lane], found: spoolLanes(data) };
  const { getPlace, isEmpty } = openJournals(lmdb, spoolLayout, lanes, { data, randomBytes, log: deps.log });
  const journal = getPlace(lane);
  const start: SpoolStart = { data, journal, others: [], ...limits };
  const folding = new WorkerThread<SpoolActions>(workerFile('replication/spool-worker'), start);
  const committer = new JournaledCommitter({
    ...deps,
    journal: new JournalThread(workerFile('storage/commit/journal-worker'), journal, producers),
    folding,
  });
  await committer.begin(isEmpty ? readFolded(lmdb, lane) : undefined);
  return {
    commit: (envelope) => committer.commit(envelope),
    // Upkeep does nothing, because the open delta contains only recent counts.
    maintain: async () => 0,
    async seal(task) {
      await committer.fold();
      return folding.call('seal', task);
    },
    collect: () => committer.collect(),
    delays: committer.delays,
    producers: committer.producers,
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
