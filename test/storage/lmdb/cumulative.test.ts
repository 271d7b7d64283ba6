import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { decodeEnvelope, encodeEnvelope } from '../../../src/storage/commit/envelope.ts';
import { cumulativeMessages, type Digest, digestBytes } from '../../../src/storage/commit/records.ts';
import {
  bucketOf,
  bucketWidth,
  scanCells,
  seriesPerEnvironment,
  seriesRef,
} from '../../../src/storage/lmdb/blocks.ts';
import { countsCodec, measurementCodec } from '../../../src/storage/lmdb/cells.ts';
import { CumulativeTotals, cumulativeLifeMs } from '../../../src/storage/lmdb/cumulative.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const environment = 3;
const start = Date.UTC(2026, 0, 31, 12, 0);
const bucket = bucketOf(bucketWidth.minute, start / 60_000);
const refOf = (series: number) => seriesRef(environment, series);

/** Totals by series. */
type Totals = Readonly<Record<number, number>>;

function message(identity: Digest, totals: Totals, at = start): Batch {
  const batch = new Batch();
  for (const series of Object.keys(totals))
    batch.series.push({ environment, ordinal: Number(series), name: ['checkout', series] });
  const counts = Object.entries(totals).flatMap(([series, checks]) => [refOf(Number(series)), checks]);
  batch.cumulative.addMessage({ ...sent, identity, at, counts });
  return batch;
}

const sent = { environment, bucket, at: start, measuredAt: start, counts: [], measurements: [] };

function openStore() {
  const data = temporaryDirectory();
  let store = openUsageTables(data);
  let { write } = createAggregator(store);
  onTestFinished(() => store.lmdb.close());
  return {
    write: (batch: Batch) => write(batch.seal()),
    sums: () => sumsOf(store),
    rows: () => store.cumulative.getKeysCount(),
    async restart() {
      await store.lmdb.close();
      store = openUsageTables(data);
      ({ write } = createAggregator(store));
    },
  };
}

function sumsOf(store: UsageTables): Totals {
  const cells = scanCells(store.counts, countsCodec, environment, bucketWidth.minute, 0, 2 ** 32 - 1);
  return Object.fromEntries(Array.from(cells, ({ ordinal, value }) => [ordinal, value.checks]));
}

const one: Digest = [1, 1, 1, 1];
const other: Digest = [1, 1, 1, 2];

test.each<[string, readonly [Digest, Totals][], Totals]>([
  [
    'repeats the earlier one adds nothing',
    [
      [one, { 1: 5 }],
      [one, { 1: 5 }],
    ],
    { 1: 5 },
  ],
  [
    'has more adds the difference',
    [
      [one, { 1: 5, 2: 1 }],
      [one, { 1: 8, 2: 1, 3: 4 }],
    ],
    { 1: 8, 2: 1, 3: 4 },
  ],
  [
    'arrives late adds nothing',
    [
      [one, { 1: 8, 2: 1 }],
      [one, { 1: 5 }],
    ],
    { 1: 8, 2: 1 },
  ],
  [
    'has less of one series and more of another is of another sender',
    [
      [one, { 1: 5, 2: 1 }],
      [one, { 1: 2, 2: 3 }],
    ],
    { 1: 7, 2: 4 },
  ],
  [
    'has another identity counts in full',
    [
      [one, { 1: 5 }],
      [other, { 1: 8 }],
    ],
    { 1: 13 },
  ],
])('a message that %s', async (_, sent, expected) => {
  const store = openStore();
  for (const [identity, totals] of sent) {
    store.write(message(identity, totals));
    await store.restart();
  }
  expect(store.sums()).toEqual(expected);
});

test('two names of one series in a message are added', () => {
  const store = openStore();
  const batch = message(other, {});
  batch.series.push({ environment, ordinal: 1, name: ['checkout', 'on'] });
  batch.cumulative.addMessage({ ...sent, identity: one, counts: [refOf(1), 2, refOf(1), 3] });
  store.write(batch);
  store.write(message(one, { 1: 6 }));
  expect(store.sums()).toEqual({ 1: 6 });
});

test('a counter adds the difference', async () => {
  const store = openUsageTables(temporaryDirectory());
  const { write } = createAggregator(store);
  for (const [value, at] of [
    [2.5, start],
    [4, start + 1],
  ] as const) {
    const batch = new Batch();
    batch.series.push({ environment, ordinal: 7, name: ['sales'] });
    batch.cumulative.addMessage({
      ...sent,
      identity: one,
      at,
      measuredAt: at,
      measurements: [refOf(7), value],
    });
    write(batch.seal());
  }
  const [cell] = scanCells(
    store.measurements,
    measurementCodec,
    environment,
    bucketWidth.minute,
    0,
    2 ** 32 - 1,
  );
  expect(cell?.value).toMatchObject({ sum: 4, count: 2, last: 1.5, lastAt: start + 1 });
  await store.lmdb.close();
});

test('totals are forgotten after their life, which each addition extends', () => {
  const store = openStore();
  store.write(message(one, { 1: 5 }));
  store.write(message(one, { 1: 6 }, start + cumulativeLifeMs));
  store.write(message(other, { 2: 1 }, start + cumulativeLifeMs + 1));
  expect(store.rows()).toBe(4);
  store.write(message(other, { 2: 2 }, start + 2 * cumulativeLifeMs + 1));
  expect(store.rows()).toBe(2);
});

test('the oldest totals are forgotten when there are too many', async () => {
  const store = openUsageTables(temporaryDirectory());
  const totals = new CumulativeTotals(store.cumulative, 10);
  const messages = Array.from({ length: 200 }, (_, n) => {
    const identity = digestBytes(0, 0, 0, n);
    return { identity, at: start + n, counts: [refOf(1), bucket, 1], measurements: [] };
  });
  await store.lmdb.transaction(() => {
    for (const each of messages) {
      totals.add(each);
      totals.expire([each]);
    }
  });
  expect(store.cumulative.getKeysCount()).toBeLessThanOrEqual(2 * 10 + 2);
  expect(totals.add(messages.at(-1)!).counts).toEqual([]);
  expect(totals.add(messages[0]!).counts).toEqual([refOf(1), bucket, 1]);
  await store.lmdb.close();
});

/** What a client does in one interval: counts, then sends, and misses the answer or not. */
const interval = fc.record({
  client: fc.nat(1),
  counted: fc.dictionary(fc.constantFrom('1', '2', '3'), fc.integer({ min: 1, max: 9 }), { minKeys: 1 }),
  arrives: fc.boolean(),
  isConfirmed: fc.boolean(),
  isDelayed: fc.boolean(),
});

test('each check counts once, whatever requests, answers and processes are lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(interval, fc.boolean()), { maxLength: 12 }), async (intervals) => {
      const store = openStore();
      const buckets: { start: number; totals: Record<string, number> }[] = [0, 1].map(() => ({
        start: 0,
        totals: {},
      }));
      const expected: Record<string, number> = {};
      const delayed: Batch[] = [];
      for (const [{ client, counted, arrives, isConfirmed, isDelayed }, restarts] of intervals) {
        const own = buckets[client]!;
        for (const [series, more] of Object.entries(counted)) {
          own.totals[series] = (own.totals[series] ?? 0) + more;
          expected[series] = (expected[series] ?? 0) + more;
        }
        const sent = () => message([1, client, own.start, 0], own.totals);
        if (isDelayed) delayed.push(sent());
        else if (arrives) store.write(sent());
        if (arrives && isConfirmed && !isDelayed) buckets[client] = { start: own.start + 1, totals: {} };
        if (restarts) await store.restart();
      }
      for (const [client, own] of buckets.entries())
        store.write(message([1, client, own.start, 0], own.totals));
      for (const batch of delayed) store.write(batch);
      expect(store.sums()).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test('a frame without cumulative messages has the version that earlier releases read', () => {
  const versionOf = (batch: Batch) => {
    const body = Buffer.concat(encodeEnvelope(batch.seal()));
    return [body.readUInt32LE(0), cumulativeMessages(decodeEnvelope(body)).length];
  };
  const plain = new Batch();
  plain.counts.add(refOf(1), bucket, 1, 0, 0);
  expect(versionOf(plain)).toEqual([1, 0]);
  expect(versionOf(message(one, { 1: 1 }))).toEqual([2, 1]);
});

const amounts = (limit: number) =>
  fc.array(fc.tuple(fc.nat(seriesPerEnvironment - 1), fc.integer({ min: 1, max: limit })), { maxLength: 23 });

test('messages of a batch are read as they were added', () => {
  const any = fc.record({
    environment: fc.nat(2 ** 32 - 1),
    bucket: fc.nat(2 ** 34),
    at: fc.nat(2 ** 48),
    measuredAt: fc.nat(2 ** 48),
    identity: fc.tuple(fc.nat(2 ** 32 - 1), fc.nat(9), fc.nat(9), fc.nat(2 ** 32 - 1)),
    counts: amounts(2 ** 31 - 1),
    measurements: amounts(2 ** 53 - 1),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 5 }), (all) => {
      const batch = new Batch();
      const rowsOf = (environment: number, rows: readonly (readonly [number, number])[]) =>
        rows.map(([ordinal, amount]) => [seriesRef(environment, ordinal), amount] as const);
      for (const { counts, measurements, environment, ...head } of all) {
        const [checks, values] = [
          rowsOf(environment, counts).flat(),
          rowsOf(environment, measurements).flat(),
        ];
        batch.cumulative.addMessage({ ...head, environment, counts: checks, measurements: values });
      }
      const read = cumulativeMessages(batch.seal());
      expect(read).toEqual(
        all.map(({ identity, at, environment, bucket, measuredAt, counts, measurements }) => ({
          ...{ identity: digestBytes(...identity), at },
          counts: rowsOf(environment, counts).flatMap(([ref, checks]) => [ref, bucket, checks]),
          measurements: rowsOf(environment, measurements).flatMap(([ref, value]) => [
            ref,
            bucket,
            value,
            measuredAt,
          ]),
        })),
      );
    }),
  );
});
