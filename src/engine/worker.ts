import { workerData } from 'node:worker_threads';
import { answerCalls, closing } from '../answer-calls.ts';
import { attachAccountStore } from '../store/accounts.ts';
import { transact } from '../store/transact.ts';
import { logThreadConsole } from '../worker-log.ts';
import type { CallChannel } from '../worker-thread.ts';
import { applyWrites } from './apply-writes.ts';
import type { Write } from './engine.ts';

/** What the thread is started with. */
export interface WorkerStart {
  readonly data: string;
}

logThreadConsole();
const { data, channel } = workerData as WorkerStart & { readonly channel: CallChannel };
const store = attachAccountStore(data);

answerCalls(channel, {
  write: (writes: readonly Write[]) => transact(store.lmdb, () => applyWrites(store, writes)),
  [closing]: () => {},
});
// A thread must not end with LMDB open.
await store.lmdb.close();
