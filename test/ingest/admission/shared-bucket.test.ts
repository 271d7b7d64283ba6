import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SharedBucket, type SharedLimit } from '../../../src/ingest/admission/shared-rate-limits.ts';
import { Publisher, publication } from '../../../src/runtime/publication.ts';
import { sourceThreads } from '../../support/source-thread.ts';
import type { BucketThreadStart } from './bucket-thread.ts';

const threads = 3;

const shared = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length)).fill(-1);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

test('threads that share a bucket get exactly its burst and its rate in total, and no token is lost', async () => {
  const time = shared(1);
  const taken = shared(threads);
  const refusedAt = shared(threads);
  const start = await sourceThreads('test/ingest/admission/bucket-thread.ts');
  const publishers = Array.from({ length: threads }, (_, number) => {
    const { from, to } = publication();
    const data: BucketThreadStart = { runs: to, number, time, taken, refusedAt };
    start(data, [to.port]);
    return new Publisher<SharedLimit & { readonly cost: number }>(from);
  });
  const isRefused = (now: number) => refusedAt.every((_, each) => Atomics.load(refusedAt, each) === now);
  const limits = fc.record({
    rate: fc.integer({ min: 1, max: 2000 }),
    burst: fc.integer({ min: 3, max: 500 }),
    cost: fc.integer({ min: 1, max: 3 }),
    // Fractions of the time in which the bucket fills. After a longer time, the bucket would overflow and lose tokens.
    parts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(limits, async ({ rate, burst, cost, parts }) => {
      taken.fill(0);
      let now = 0;
      Atomics.store(time, 0, now);
      const limit = { application: 1, rate, burst, memory: SharedBucket.memory() };
      for (const publisher of publishers) publisher.publish({ ...limit, cost });
      try {
        for (const part of [0, ...parts]) {
          now += Math.floor((part * (burst - cost) * 1000) / rate);
          Atomics.store(time, 0, now);
          await until(() => isRefused(now));
          const granted = burst + (rate * now) / 1000;
          const sum = taken.reduce((all, each) => all + each, 0);
          expect(sum).toBeLessThanOrEqual(granted + 1e-6);
          expect(sum).toBeGreaterThan(granted - cost - 1e-6);
        }
      } finally {
        Atomics.store(time, 0, -1);
        await until(() => isRefused(-1));
      }
    }),
    { numRuns: 15 },
  );
});
