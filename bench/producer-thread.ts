import { workerData } from 'node:worker_threads';
import { Batch } from '../src/storage/commit/batch.ts';
import { ProducerCommitter } from '../src/storage/commit/committer.ts';
import type { ProducerMemory } from '../src/storage/commit/journal-memory.ts';
import { RecordArrays } from '../src/storage/commit/record-buffer.ts';
import { seriesRef } from '../src/storage/lmdb/blocks.ts';

/** Parameters of a thread that commits batches one after the other: see producers.ts. */
export interface ProducerStart {
  readonly memory: ProducerMemory;
  /** Number of packets per second that arrive at the thread. */
  readonly rate: number;
  /** Shared counters: number of commits, and number of packets. */
  readonly done: Int32Array;
  /** The value 1 stops the thread. */
  readonly stop: Int32Array;
}

const { memory, rate, done, stop } = workerData as ProducerStart;
const committer = new ProducerCommitter(memory);
const arrays = new RecordArrays();
const alive = setInterval(() => {}, 2 ** 30); // Waiting for a commit does not keep the thread alive.
for (let taken = performance.now(); Atomics.load(stop, 0) === 0; ) {
  const packets = Math.max(1, Math.floor(((performance.now() - taken) / 1000) * rate));
  taken += (packets / rate) * 1000;
  const batch = new Batch(arrays);
  for (let count = 0; count < 3 * packets; count++) batch.counts.add(seriesRef(1, count), 4, 1, 0, 0);
  await committer.commit(batch.seal());
  batch.release();
  Atomics.add(done, 0, 1);
  Atomics.add(done, 1, packets);
}
clearInterval(alive);
