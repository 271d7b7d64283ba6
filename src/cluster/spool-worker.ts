import { workerData } from 'node:worker_threads';
import { answerCalls, closing } from '../answer-calls.ts';
import { openSpoolStore } from '../store/spool.ts';
import { logThreadConsole } from '../worker-log.ts';
import type { CallChannel } from '../worker-thread.ts';
import { createSpoolAggregator } from './spool-aggregator.ts';
import type { SpoolStart } from './spool-committer.ts';

logThreadConsole();
const { data, channel, ...limits } = workerData as SpoolStart & { readonly channel: CallChannel };
const store = openSpoolStore(data);
const { write, seal } = createSpoolAggregator(store, limits);

// The open delta is never old: it needs no upkeep.
answerCalls(channel, { write, seal, maintain: () => 0, [closing]: () => {} });
// A worker must not be ended with LMDB open.
await store.lmdb.close();
