import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import {
  bucketWidth,
  countsCodec,
  encodeBucket,
  measurementCodec,
  scanCells,
  seriesRef,
} from '../../../src/storage/lmdb/blocks.ts';
import { listSeries } from '../../../src/storage/lmdb/series.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const environment = 3;
const at = (minute: number) => encodeBucket(bucketWidth.minute, minute);

test('cells have the sums of many commits, even after the store is reopened', async () => {
  const data = temporaryDirectory();
  let store = openUsageTables(data);
  let { write } = createAggregator(store);
  const expected = new Map<string, number[]>();

  const record = fc.record({
    ordinal: fc.integer({ min: 29, max: 34 }),
    minute: fc.integer({ min: 1000, max: 1004 }),
    counts: fc.tuple(fc.nat(), fc.nat(), fc.nat()),
  });
  const step = fc.record({ records: fc.array(record, { maxLength: 30 }), reopen: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
      for (const { records, reopen } of steps) {
        const batch = new Batch();
        for (const { ordinal, minute, counts } of records) {
          batch.series.push({ environment, ordinal, name: [`feature-${ordinal}`, 'on'] });
          batch.counts.add(seriesRef(environment, ordinal), at(minute), ...counts);
          const sums = expected.get(`${minute}/${ordinal}`) ?? [0, 0, 0];
          expected.set(
            `${minute}/${ordinal}`,
            sums.map((sum, index) => sum + counts[index]!),
          );
        }
        write(batch.seal());
        if (!reopen) continue;
        await store.lmdb.close();
        store = openUsageTables(data);
        ({ write } = createAggregator(store));
      }
      const cells = [...scanCells(store.counts, countsCodec, environment, bucketWidth.minute, 0, 2000)];
      const stored = cells.map(({ minute, ordinal, value }) => [
        `${minute}/${ordinal}`,
        [value.checks, value.used, value.viewed],
      ]);
      expect(new Map(stored as [string, number[]][])).toEqual(expected);
    }),
    { numRuns: 40 },
  );
  await store.lmdb.close();
});

test('a metric keeps its sum, count, last value with its time, minimum and maximum', async () => {
  const store = temporaryUsage();
  const batch = new Batch();
  const ref = seriesRef(environment, 1);
  batch.series.push({ environment, ordinal: 1, name: ['amount'] });
  for (const [value, time] of [
    [5, 100],
    [-2.5, 300],
    [7, 200],
  ] as const) {
    batch.measurements.add(ref, at(10), value, time);
  }
  createAggregator(store).write(batch.seal());
  const [cell] = scanCells(store.measurements, measurementCodec, environment, bucketWidth.minute, 0, 20);
  expect(cell?.value).toEqual({ sum: 9.5, count: 3, last: -2.5, lastAt: 300, min: -2.5, max: 7 });
});

test('a failed batch changes neither the disk nor the memory', async () => {
  const store = temporaryUsage();
  const { write } = createAggregator(store);
  const ref = seriesRef(environment, 1);
  const broken = new Batch();
  broken.counts.add(ref, at(10), 1, 1, 1);
  broken.series.push({ environment, ordinal: 1, name: ['a', 'b'] });
  const envelope = broken.seal();
  expect(() => write({ ...envelope, series: [...envelope.series, undefined as never] })).toThrow();

  expect([...listSeries(store, environment)]).toEqual([]);
  const whole = new Batch();
  whole.counts.add(ref, at(10), 2, 0, 0);
  whole.series.push({ environment, ordinal: 1, name: ['a', 'b'] });
  write(whole.seal());
  const cells = [...scanCells(store.counts, countsCodec, environment, bucketWidth.minute, 0, 20)];
  expect(cells.map(({ value }) => value)).toEqual([{ checks: 2, used: 0, viewed: 0 }]);
});

test('the series of an environment are read in the order of their ordinals, and not of their names', async () => {
  const store = temporaryUsage();
  const batch = new Batch();
  const names = [['__proto__', 'constructor'], ['🚩'.repeat(64), '"\\/'], ['metric']] as const;
  names.forEach((name, ordinal) => {
    batch.series.push({ environment, ordinal, name });
  });
  batch.series.push({ environment: environment + 1, ordinal: 0, name: ['other'] });
  createAggregator(store).write(batch.seal());
  expect([...listSeries(store, environment)].map(({ name }) => name)).toEqual(names);
});
