import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { encodeEnvelope } from '../../../src/storage/commit/envelope.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { permanentAt } from '../../../src/storage/lmdb/messages.ts';
import { listSeenSeries } from '../../../src/storage/lmdb/series.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const environment = 3;
const day = 1440;
const start = 20_000 * day;

interface SeenMinute {
  readonly ordinal: number;
  readonly minute: number;
  readonly what?: 'counts' | 'value' | 'user';
}

function createBatch(seen: readonly SeenMinute[]): Batch {
  const batch = new Batch();
  for (const { ordinal, minute, what = 'counts' } of seen) {
    const ref = seriesRef(environment, ordinal);
    batch.series.push({ environment, ordinal, name: [`metric-${ordinal}`] });
    const bucket = encodeBucket(bucketWidth.minute, minute);
    if (what === 'counts') batch.counts.add(ref, bucket, 1, 0, 0);
    if (what === 'value') batch.measurements.add(ref, bucket, 1, minute * 60_000);
    if (what === 'user') batch.users.add(ref, minute, 1, 2);
  }
  return batch;
}

function read(store: UsageTables): number[][] {
  store.seen.resetReadTxn();
  return [...listSeenSeries(store, environment)].map(({ ordinal, first, last }) => [
    ordinal,
    first - start,
    last - start,
  ]);
}

test('the first-seen time comes from the first report, and the last-seen time is the latest reported time', async () => {
  const data = temporaryDirectory();
  let store = openUsageTables(data);
  const told: [SeenMinute[], number[][]][] = [
    [[{ ordinal: 0, minute: start + 5 }], [[0, 5, 5]]],
    [[{ ordinal: 0, minute: start + 5 }], [[0, 5, 5]]],
    [
      [
        { ordinal: 0, minute: start + 9 },
        { ordinal: 31, minute: start + 8 },
      ],
      [
        [0, 5, 9],
        [31, 8, 8],
      ],
    ],
    [
      [
        { ordinal: 0, minute: start + 1 },
        { ordinal: 32, minute: start, what: 'value' },
      ],
      [
        [0, 5, 9],
        [31, 8, 8],
        [32, 0, 0],
      ],
    ],
    [
      [
        { ordinal: 31, minute: start + 2 * day + 7, what: 'user' },
        { ordinal: 33, minute: start + 11, what: 'user' },
        { ordinal: 33, minute: start + 12, what: 'user' },
      ],
      [
        [0, 5, 9],
        [31, 8, 2 * day + 7],
        [32, 0, 0],
        [33, 11, 12],
      ],
    ],
  ];
  for (const [seen, expected] of told) {
    createAggregator(store).write(createBatch(seen).seal());
    expect(read(store)).toEqual(expected);
    await store.lmdb.close();
    store = openUsageTables(data);
  }
  await store.lmdb.close();
});

test('a failed batch or a roll-up does not change the first-seen and last-seen times of a series', async () => {
  const store = temporaryUsage();
  const { write, maintain } = createAggregator(store);
  write(createBatch([{ ordinal: 0, minute: start + 70 }]).seal());
  const broken = createBatch([
    { ordinal: 0, minute: start + 80 },
    { ordinal: 1, minute: start + 80 },
  ]).seal();
  expect(() => write({ ...broken, forgotten: [undefined as never] })).toThrow();
  const horizons = { minutes: start + day, hours: start + day, days: start - day };
  const step = { task: 'retention', environment, horizons, now: 0, exposureDays: 30, limit: 100 } as const;
  while (maintain(step) > 0);
  write(createBatch([{ ordinal: 2, minute: start + 90 }]).seal());
  expect(read(store)).toEqual([
    [0, 70, 70],
    [2, 90, 90],
  ]);
});

test('only an imported message can make the first-seen time of a series earlier', async () => {
  const store = temporaryUsage();
  const aggregator = createAggregator(store, 10);
  aggregator.write(
    createBatch([
      { ordinal: 1, minute: start },
      { ordinal: 2, minute: start },
    ]).seal(),
  );
  aggregator.write(createBatch([{ ordinal: 2, minute: start - day }]).seal());
  const historyBatch = createBatch([{ ordinal: 2, minute: start - 3 * day }]);
  const from = historyBatch.extent;
  for (const [ordinal, minute] of [
    [1, start - day],
    [1, start + day],
    [3, start - 2 * day],
  ] as const) {
    historyBatch.series.push({ environment, ordinal, name: [`metric-${ordinal}`] });
    historyBatch.counts.add(seriesRef(environment, ordinal), encodeBucket(bucketWidth.day, minute), 1, 0, 0);
  }
  historyBatch.messages.add([1, environment, 0, 0], permanentAt, from, historyBatch.extent);
  const sealed = historyBatch.seal();
  expect(Buffer.concat(encodeEnvelope(sealed)).readUInt32LE(0)).toBe(3); // Earlier releases refuse version 3.
  aggregator.write(sealed);
  expect(read(store)).toEqual([
    [1, -day, day],
    [2, 0, 0],
    [3, -2 * day, -2 * day],
  ]);
});
