import { serveCalls, threadStart } from '../../runtime/thread-calls.ts';
import { openUsageTables } from '../lmdb/usage.ts';
import { createAggregator } from './aggregator.ts';
import { foldActions, type Journals } from './fold.ts';

export interface WorkerStart extends Journals {
  readonly data: string;
  /** Maximum number of people per environment whose exposures are kept. */
  readonly maxIdentities: number;
}

const { data, maxIdentities, channel, ...journals } = threadStart<WorkerStart>();
const store = openUsageTables(data);
const aggregator = createAggregator(store, maxIdentities);

serveCalls(channel, foldActions(store.lmdb, journals, aggregator));
// Close LMDB first: a worker must not be terminated while LMDB is open.
await store.lmdb.close();
