import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { CommitError, ProducerCommitter } from '../../../src/storage/commit/committer.ts';
import type { CommittersStart } from '../../../src/storage/commit/start-committers.ts';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { startTestCommitters } from '../../support/committers.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { dump } from '../../support/whole-batch.ts';

function createBatch(checks: number) {
  const batch = new Batch();
  if (checks === 0) batch.series.push({ environment: 1, ordinal: 0, name: ['feature', 'on'] });
  batch.counts.add(seriesRef(1, 0), 4, checks, 0, 0);
  return batch.seal();
}

/** A lane whose journal the service's thread shares with two other threads, and the name of its series. */
async function openShared(start: Partial<CommittersStart> = {}) {
  const data = temporaryDirectory();
  const store = openUsageTables(data);
  const [committer] = await startTestCommitters(store, data, { producers: 2, ...start });
  const producers = committer!.producers.map((memory) => new ProducerCommitter(memory));
  const close = async () => {
    await Promise.all(producers.map((producer) => producer.close()));
    await committer!.close();
    await store.lmdb.close();
  };
  return { data, store, committer: committer!, all: [committer!, ...producers], close };
}

test('batches of several threads are each counted once, in fewer frames than batches', async () => {
  const { store, committer, all, close } = await openShared();
  await committer.commit(createBatch(0));
  const rounds = 50;
  for (let round = 0; round < rounds; round++)
    await Promise.all(all.map((each, at) => each.commit(createBatch(100 ** at))));
  expect(committer.unfolded.frames).toBeLessThan(1 + rounds * all.length);
  await committer.fold();
  expect(committer.unfolded).toEqual({ frames: 0, bytes: 0 });
  const alone = openUsageTables(temporaryDirectory());
  const { write } = createAggregator(alone);
  for (const checks of [0, rounds, 100 * rounds, 10_000 * rounds]) write(createBatch(checks));
  store.lmdb.resetReadTxn();
  expect(dump(store)).toEqual(dump(alone));
  await alone.lmdb.close();
  await close();
});

test('frames that only another thread appends are folded, even if they arrive after a pause', async () => {
  let now = 0;
  const due: (() => void)[] = [];
  const clock = {
    ...systemClock,
    monotonic: () => now,
    after: (_: number, callback: () => void) => due.push(callback),
  };
  const passTime = () => {
    now += 30_000; // Users and exposures are folded at this interval.
    for (const callback of due.splice(0)) callback();
  };
  const { committer, all, close } = await openShared({ clock });
  const [, producer] = all as [unknown, ProducerCommitter];
  await committer.commit(createBatch(0));
  for (let round = 0; round < 3; round++) {
    await vi.waitFor(() => {
      passTime();
      expect(committer.unfolded.frames).toBe(0);
    });
    await producer.commit(createBatch(1));
    expect(producer.unfoldedBytes).toBeGreaterThan(0);
    await vi.waitFor(() => {
      passTime();
      expect(producer.unfoldedBytes).toBe(0);
    });
  }
  await close();
});

test('a failed append refuses the batches of all waiting threads, and later appends succeed', async () => {
  const { data, all, close } = await openShared();
  const inTheWay = join(data, 'journal/1/first.tmp'); // The temporary name of the first segment.
  mkdirSync(inTheWay);
  const results = await Promise.allSettled(all.map((each) => each.commit(createBatch(0))));
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: expect.stringMatching(/^E/) } });
    expect((result as PromiseRejectedResult).reason).toBeInstanceOf(CommitError);
  }
  rmSync(inTheWay, { recursive: true });
  await Promise.all(all.map((each) => each.commit(createBatch(0))));
  await close();
});

test('a batch is refused once the journal is closed', async () => {
  const { all, close } = await openShared();
  await close();
  for (const each of all) await expect(each.commit(createBatch(0))).rejects.toThrow('the thread has ended');
});
