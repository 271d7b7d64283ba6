import { workerData } from 'node:worker_threads';
import { answerCalls, closing } from '../answer-calls.ts';
import { openUsageStore } from '../store/usage.ts';
import { logThreadConsole } from '../worker-log.ts';
import type { CallChannel } from '../worker-thread.ts';
import { createAggregator } from './aggregator.ts';

/** What a worker is started with. */
export interface WorkerStart {
  readonly data: string;
  /** People an environment whose exposures are kept. */
  readonly maxIdentities: number;
}

logThreadConsole();
const { data, maxIdentities, channel } = workerData as WorkerStart & { readonly channel: CallChannel };
const store = openUsageStore(data);
const { write, maintain } = createAggregator(store, maxIdentities);

answerCalls(channel, { write, maintain, [closing]: () => {} });
// A worker must not be ended with LMDB open.
await store.lmdb.close();
