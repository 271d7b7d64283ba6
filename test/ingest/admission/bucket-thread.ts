import { workerData } from 'node:worker_threads';
import { SharedBucket, type SharedLimit } from '../../../src/ingest/admission/shared-rate-limits.ts';
import { type PublicationEnd, Subscriber } from '../../../src/runtime/publication.ts';

export interface BucketThreadStart {
  readonly runs: PublicationEnd;
  readonly number: number;
  /** Current time, ms; -1 ends a run. */
  readonly time: Int32Array;
  readonly taken: Int32Array;
  /** Last time at which each thread was refused a token. */
  readonly refusedAt: Int32Array;
}

const { runs, number, time, taken, refusedAt } = workerData as BucketThreadStart;

/** Takes tokens as fast as possible until the run ends. */
new Subscriber<SharedLimit & { readonly cost: number }>(runs, ({ cost, ...limit }) => {
  const bucket = new SharedBucket(limit, 0);
  for (let now = Atomics.load(time, 0); now !== -1; now = Atomics.load(time, 0)) {
    if (bucket.take(now, cost) === 0) Atomics.add(taken, number, cost);
    else Atomics.store(refusedAt, number, now);
  }
  Atomics.store(refusedAt, number, -1);
});

setInterval(() => {}, 60_000); // This timer keeps the thread alive, because a subscriber does not.
