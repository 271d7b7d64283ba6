/**
 * Commits to one journal from several threads, until it is killed or the disk fails: `bun producers-process.ts DATA
 * THREADS FIRST`. FIRST is the number of each thread's first batch. See numbered-batches.ts for the printed lines.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { startCommitters } from '../../src/storage/commit/start-committers.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { committersStart } from '../support/committers.ts';
import { commitUntilRefused } from './numbered-batches.ts';

const [data = '', threads = '1', first = '0'] = process.argv.slice(2);
const store = openUsageTables(data);
const start = { ...committersStart(data), producers: Number(threads) - 1 };
const [committer] = await startCommitters(store, start);
const file = new URL('./producer-thread.ts', import.meta.url);
const workers = committer!.producers.map(
  (memory, at) => new Worker(file, { workerData: { memory, thread: at + 1, first: Number(first) } }),
);
const ended = workers.map((worker) => once(worker, 'exit'));
await commitUntilRefused(committer!, 0, Number(first), (line) => writeSync(1, line));
await Promise.all(ended);
process.exit();
