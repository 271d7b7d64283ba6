import { expect, test } from 'vitest';
import { checkCarried } from '../../../src/storage/backup/check-usage.ts';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import {
  BlockEncoder,
  type BucketWidth,
  blockKey,
  bucketAt,
  bucketWidth,
  cellsPerBlock,
  computeBlock,
  countsCodec,
  decodeBlock,
  encodeBucket,
  horizonsAt,
  seriesRef,
} from '../../../src/storage/lmdb/blocks.ts';
import { fromSnapshot } from '../../../src/storage/lmdb/snapshot.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const environment = 4;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const retention = { minutesMs: 30 * hourMs, hoursMs: 4 * dayMs, daysMs: 90 * dayMs };
const start = Date.UTC(2026, 0, 20, 7, 13) / minuteMs;
const now = start + 6 * 1440;
const ordinals = [0, 33];

/** Six days of counts. They are rolled up as they arrive, and some counts arrive hours or days late. */
function filled(): UsageTables {
  const store = openUsageTables(temporaryDirectory());
  const { write, maintain } = createAggregator(store);
  const names = new Batch();
  for (const ordinal of ordinals) names.series.push({ environment, ordinal, name: ['checkout', `variant-${ordinal}`] });
  write(names.seal());
  for (let minute = start; minute <= now; minute += 37) {
    const horizons = horizonsAt(minute * minuteMs, retention);
    const batch = new Batch();
    for (const ago of [0, 50, 2000]) {
      const bucket = bucketAt(minute - ago, horizons);
      for (const ordinal of ordinals) batch.counts.add(seriesRef(environment, ordinal), bucket, 3, 2, 1);
    }
    write(batch.seal());
    if (minute % 3 > 0) continue;
    const step = { task: 'retention', environment, horizons, exposureDays: 30, limit: 20 } as const;
    maintain({ ...step, now: minute * minuteMs });
  }
  return store;
}

function check(store: UsageTables): string | undefined {
  store.lmdb.resetReadTxn();
  return finish(fromSnapshot(store.lmdb, (at) => checkCarried(store, at)));
}

/** Adds one check to a cell, to simulate damage. */
function alter(store: UsageTables, width: BucketWidth, minute: number, ordinal: number): void {
  const ref = seriesRef(environment, ordinal);
  const key = blockKey(computeBlock(ref), encodeBucket(width, minute));
  const block = decodeBlock(store.counts.get(key)!, countsCodec);
  block[ref % cellsPerBlock]!.checks += 1;
  store.lmdb.transactionSync(() => store.counts.putSync(key, new BlockEncoder(countsCodec).encode(block)));
}

const floor = (minute: number, width: number) => Math.floor(minute / width) * width;
const counted = floor(now - start, 37) + start - 37 * 8;

test.each([
  ['a minute', bucketWidth.minute, counted, 'hour', floor(counted, 60)],
  ['an hour', bucketWidth.hour, floor(counted, 60), 'hour', floor(counted, 60)],
  ['a day', bucketWidth.day, floor(now - 1440, 1440), 'day', floor(now - 1440, 1440)],
] as const)('the check of a directory reports only the changed cell of %s', async (_, width, minute, words, at) => {
  const store = filled();
  expect(check(store)).toBeUndefined();
  alter(store, width, minute, 33);
  const time = new Date(at * minuteMs).toISOString();
  expect(check(store)).toBe(
    `it is damaged: the counts of checkout/variant-33 in environment 4 do not add up to the counts of the ${words} from ${time} on`,
  );
  await store.lmdb.close();
});
