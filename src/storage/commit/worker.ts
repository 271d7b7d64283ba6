import { workerData } from 'node:worker_threads';
import { answerCalls, closing } from '../../runtime/answer-calls.ts';
import { logThreadConsole } from '../../runtime/worker-log.ts';
import type { CallChannel } from '../../runtime/worker-thread.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import { openUsageStore } from '../lmdb/usage.ts';
import { createAggregator } from './aggregator.ts';
import { foldActions, type Journals } from './fold.ts';

/** Options of a worker. */
export interface WorkerStart extends Journals {
  readonly data: string;
  /** Maximum number of people per environment whose exposures are kept. */
  readonly maxIdentities: number;
}

logThreadConsole();
const { data, maxIdentities, channel, ...journals } = workerData as WorkerStart & {
  readonly channel: CallChannel;
};
const store = openUsageStore(data);
const aggregator = createAggregator(store, maxIdentities);

answerCalls(channel, {
  ...foldActions(store.lmdb, journals, aggregator),
  maintain: (step: Maintenance) => aggregator.maintain(step),
  [closing]: () => {},
});
// A worker must not be terminated while LMDB is open.
await store.lmdb.close();
