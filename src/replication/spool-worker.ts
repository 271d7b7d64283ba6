import { serveCalls, threadStart } from '../runtime/thread-calls.ts';
import { foldActions, type Journals } from '../storage/commit/fold.ts';
import { openSpoolStore } from '../storage/lmdb/usage.ts';
import type { SealTask } from './seal.ts';
import { createSpoolAggregator, type SpoolLimits } from './spool-aggregator.ts';

/** Start options of the spool worker. */
export interface SpoolStart extends SpoolLimits, Journals {
  readonly data: string;
}

const { data, channel, journal, others, ...limits } = threadStart<SpoolStart>();
const store = openSpoolStore(data);
const aggregator = createSpoolAggregator(store, limits);

const actions = {
  ...foldActions(store.lmdb, { journal, others }, aggregator),
  seal: (task: SealTask) => aggregator.seal(task),
};
export type SpoolActions = typeof actions;

serveCalls(channel, actions);
// LMDB is closed first, because a worker must not be stopped while LMDB is open.
await store.lmdb.close();
