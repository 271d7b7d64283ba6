import { workerData } from 'node:worker_threads';
import { answerCalls, closing } from '../runtime/answer-calls.ts';
import { logThreadConsole } from '../runtime/worker-log.ts';
import type { CallChannel } from '../runtime/worker-thread.ts';
import { foldActions } from '../storage/commit/fold.ts';
import { openSpoolStore } from '../storage/lmdb/spool.ts';
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
