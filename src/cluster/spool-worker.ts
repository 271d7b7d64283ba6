import { workerData } from 'node:worker_threads';
import { answerCalls, closing } from '../answer-calls.ts';
import { foldActions } from '../commit/fold.ts';
import { openSpoolStore } from '../store/spool.ts';
import { logThreadConsole } from '../worker-log.ts';
import type { CallChannel } from '../worker-thread.ts';
import type { SealTask } from './seal.ts';
import { createSpoolAggregator } from './spool-aggregator.ts';
import type { SpoolStart } from './spool-committer.ts';

logThreadConsole();
const { data, channel, journal, others, ...limits } = workerData as SpoolStart & {
  readonly channel: CallChannel;
};
const store = openSpoolStore(data);
const aggregator = createSpoolAggregator(store, limits);

answerCalls(channel, {
  ...foldActions(store.lmdb, { journal, others }, aggregator),
  seal: (task: SealTask) => aggregator.seal(task),
  [closing]: () => {},
});
// A worker must not be ended with LMDB open.
await store.lmdb.close();
