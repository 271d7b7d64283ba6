import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { EmbeddedUsage, type FoldingCommitter } from '../../../src/storage/commit/embedded-usage.ts';
import type { JournaledCommitter } from '../../../src/storage/commit/journaled-committer.ts';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { startTestCommitters } from '../../support/committers.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

function openUsage(store: UsageTables, committers: readonly FoldingCommitter[], ready: boolean) {
  const digestSecret = Buffer.alloc(32);
  const findLane = () => expect.unreachable();
  return new EmbeddedUsage({
    store,
    digestSecret,
    clock: { now: () => 0 },
    committers,
    health: { ready, reason: undefined },
    findLane,
  });
}

test('EmbeddedUsage is not ready while more than 64 MiB of the journal are not folded', async () => {
  const store = temporaryUsage();
  const holding = (bytes: number) => ({ unfolded: { frames: 1, bytes } }) as FoldingCommitter;
  const readinessAt = (bytes: number) => openUsage(store, [holding(0), holding(bytes)], true).readiness();
  expect(readinessAt(64 * 2 ** 20)).toEqual({ counting: undefined, managing: undefined });
  expect(readinessAt(64 * 2 ** 20 + 1)).toEqual({
    counting: 'Too much data waits in the journal to be folded; try again',
    managing: undefined,
  });
});

/** A committer with a fault, and its data directory. */
async function failing() {
  const data = temporaryDirectory();
  const store = openUsageTables(data);
  const failures: unknown[] = [];
  const failed = (error: unknown) => void failures.push(error);
  const [committer] = await startTestCommitters(store, data, {
    failed,
    clock: { ...systemClock, after: (_, callback) => void setImmediate(callback) },
  });
  const reason = () => openUsage(store, [committer!], false).readiness().counting;
  const close = async () => {
    await committer!.close();
    await store.lmdb.close();
  };
  return { data, committer: committer as JournaledCommitter, reason, failures, close };
}

test('EmbeddedUsage reports that no journal segment can be prepared, until a segment is prepared', async () => {
  const { data, committer, reason, failures, close } = await failing();
  expect(reason()).toBe('the store does not accept data; see the log');
  const unfinished = join(data, 'journal/1/prepare.tmp');
  mkdirSync(join(unfinished, 'in the way'), { recursive: true });
  const large = () => {
    const batch = new Batch();
    for (let ordinal = 0; ordinal < 8_000; ordinal += 1)
      batch.series.push({ environment: 1, ordinal, name: ['feature', `variant-${ordinal}`] });
    return batch.seal();
  };
  await committer.commit(large());
  await expect.poll(reason).toBe('preparing a journal segment failed; see the log');
  expect(failures).toHaveLength(1);
  rmSync(unfinished, { recursive: true });
  await committer.commit(large());
  await expect.poll(() => committer.trouble).toBeUndefined();
  await close();
});

test('EmbeddedUsage reports that the journal cannot be folded, and counts the failures', async () => {
  const { committer, reason, close } = await failing();
  const unnamed = new Batch();
  unnamed.counts.add(seriesRef(1, 0), 4, 1, 0, 0);
  await committer.commit(unnamed.seal());
  await expect(committer.fold()).rejects.toThrow('a new series comes with its name');
  expect(reason()).toBe('folding the journal into the store failed; see the log');
  expect(committer.failedFolds).toBeGreaterThan(0);
  await close();
});
