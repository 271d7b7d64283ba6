import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CountsBlock, readCounts, selectSegments } from '../../../src/storage/aggregate/read-counts.ts';
import { checkCarried } from '../../../src/storage/backup/check-usage.ts';
import { type Aggregator, createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import {
  BlockEncoder,
  type BucketWidth,
  blockKey,
  bucketAt,
  bucketWidth,
  ceilToBucket,
  computeBlock,
  computePlace,
  countsCodec,
  encodeBucket,
  floorToBucket,
  horizonsAt,
  scanCells,
  seriesRef,
} from '../../../src/storage/lmdb/blocks.ts';
import { openLaidOut } from '../../../src/storage/lmdb/layout.ts';
import { openTable, transact } from '../../../src/storage/lmdb/lmdb.ts';
import { noRollUp, readRollUpState } from '../../../src/storage/lmdb/roll-up-state.ts';
import { putSeries } from '../../../src/storage/lmdb/series.ts';
import { fromSnapshot } from '../../../src/storage/lmdb/snapshot.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const environment = 7;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const retention = { minutesMs: 2 * hourMs, hoursMs: 24 * hourMs, daysMs: 24 * 500 * hourMs };
const start = Date.UTC(2026, 0, 31, 22, 10) / minuteMs;

interface ExpectedCount {
  readonly minute: number;
  readonly ordinal: number;
  readonly checks: number;
}

function write(aggregator: Aggregator, counted: readonly ExpectedCount[], now: number): void {
  const batch = new Batch();
  const horizons = horizonsAt(now * minuteMs, retention);
  for (const ordinal of [0, 1, 40]) {
    batch.series.push({ environment, ordinal, name: ['checkout', `variant-${ordinal}`] });
  }
  for (const { minute, ordinal, checks } of counted) {
    batch.counts.add(seriesRef(environment, ordinal), bucketAt(minute, horizons), checks, 1, 0);
  }
  aggregator.write(batch.seal());
}

/** Does one step of upkeep. @returns true if the step changed anything */
function upkeep({ maintain }: Aggregator, now: number, limit: number): boolean {
  const horizons = horizonsAt(now * minuteMs, retention);
  const step = { task: 'retention', environment, exposureDays: 30, horizons, limit } as const;
  return maintain({ ...step, now: now * minuteMs }) > 0;
}

type Grain = 'minute' | 'hour' | 'day';

/** The counts of every series, by ordinal. */
function read(store: UsageTables, from: number, to: number, grain: Grain, only?: number[]): Map<number, number> {
  const sums = new Map<number, number>();
  const wanted = { from, to, grain, ...(only === undefined ? {} : { only }) };
  const add = ({ minute, size, ordinals, checks, used }: CountsBlock) => {
    expect(minute).toBeLessThan(to);
    for (let index = 0; index < size; index += 1) {
      expect(used[index]).toBeGreaterThan(0);
      sums.set(ordinals[index]!, (sums.get(ordinals[index]!) ?? 0) + checks[index]!);
    }
  };
  finish(fromSnapshot(store.lmdb, (at) => readCounts(store, environment, wanted, at, add)));
  return sums;
}

const round = fc.record({
  /** Number of minutes that pass before the step. */
  pass: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 200 }), fc.nat({ max: 3000 })),
  counted: fc.array(
    fc.record({
      ago: fc.oneof(fc.nat({ max: 2 }), fc.nat({ max: 200 }), fc.nat({ max: 4000 })),
      ordinal: fc.constantFrom(0, 1, 40),
      checks: fc.integer({ min: 1, max: 1000 }),
    }),
    { maxLength: 6 },
  ),
  steps: fc.nat({ max: 6 }),
  restart: fc.boolean(),
});

test('reports of any time range equal the counts, despite late packets, roll-up and retention', async () => {
  const span = fc.record({
    from: fc.nat({ max: 6000 }),
    length: fc.integer({ min: 1, max: 6000 }),
    grain: fc.constantFrom<Grain>('minute', 'hour', 'day'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(round, { minLength: 1, maxLength: 8 }),
      fc.array(span, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 3 }),
      async (rounds, spans, limit) => {
        const store = openUsageTables(temporaryDirectory());
        let aggregator = createAggregator(store);
        const all: ExpectedCount[] = [];
        let now = start;
        for (const { pass, counted, steps, restart } of rounds) {
          now += pass;
          const sent = counted.map(({ ago, ...rest }) => ({ minute: now - ago, ...rest }));
          write(aggregator, sent, now);
          all.push(...sent);
          for (let step = 0; step < steps; step += 1) upkeep(aggregator, now, limit);
          if (restart) aggregator = createAggregator(store);
          const horizons = horizonsAt(now * minuteMs, retention);
          for (const { from: ago, length, grain } of spans) {
            const from = floorToBucket(now - ago, horizons);
            const to = ceilToBucket(now - ago + length, horizons);
            const inside = all.filter(({ minute }) => minute >= from && minute < to);
            const expected = new Map<number, number>();
            for (const { ordinal, checks } of inside) {
              expected.set(ordinal, (expected.get(ordinal) ?? 0) + checks);
            }
            expect(read(store, from, to, grain)).toEqual(expected);
            const ofOne = new Map([...expected].filter(([ordinal]) => ordinal < 32));
            expect(read(store, from, to, grain, [0])).toEqual(ofOne);
          }
          expect(finish(fromSnapshot(store.lmdb, (at) => checkCarried(store, at)))).toBeUndefined();
        }
        await store.lmdb.close();
      },
    ),
    { numRuns: 40 },
  );
});

const cells = (store: UsageTables, width: BucketWidth) =>
  [...scanCells(store.counts, countsCodec, environment, width, 0, 2 ** 32 - 1)].map(({ value }) => value.checks);

test('complete minutes and hours are rolled up, and all cells are deleted after their retention', async () => {
  const store = temporaryUsage();
  const aggregator = createAggregator(store);
  const { minute, hour, day } = bucketWidth;
  const first = Math.floor(start / 1440) * 1440;
  const counted = [0, 1, 61].map((after) => ({ minute: first + after, ordinal: 0, checks: 1 }));
  write(aggregator, counted, first + 61);
  const at = (now: number) => {
    while (upkeep(aggregator, now, 2));
    return [minute, hour, day].map((width) => cells(store, width));
  };
  expect(at(first + 62)).toEqual([[1, 1, 1], [2], [2]]);
  expect(at(first + 64)).toEqual([[1, 1, 1], [2, 1], [2]]);
  expect(at(first + 122)).toEqual([[1, 1, 1], [2, 1], [3]]);
  expect(at(first + 3.5 * 60)).toEqual([[1], [2, 1], [3]]);
  expect(at(first + 5 * 60)).toEqual([[], [2, 1], [3]]);
  expect(at(first + 49 * 60)).toEqual([[], [], [3]]);
  expect(at(first + 501 * 1440)).toEqual([[], [], []]);
});

test('upkeep of an environment without new counts writes nothing', async () => {
  const store = temporaryUsage();
  const aggregator = createAggregator(store);
  expect(upkeep(aggregator, start, 8)).toBe(false);
  expect(readRollUpState(store.carried, environment)).toEqual(noRollUp);
  write(aggregator, [{ minute: start, ordinal: 0, checks: 1 }], start);
  while (upkeep(aggregator, start + 200, 8));
  const carried = readRollUpState(store.carried, environment);
  expect(upkeep(aggregator, start + 210, 8)).toBe(false);
  expect(readRollUpState(store.carried, environment)).toEqual(carried);
});

test('counts from layout 1 are read and rolled up like counts of the current layout', async () => {
  const data = temporaryDirectory();
  const lmdb = openLaidOut(data, { store: 'usage', steps: [] });
  const table = openTable(lmdb, 'counts');
  const encoder = new BlockEncoder(countsCodec);
  const first = Math.floor(start / 1440) * 1440;
  /** Puts counts in the form of layout 1. Each count is in one cell, whose width is a minute, an hour or a day. */
  const put = (width: BucketWidth, minute: number, checks: number) => {
    const key = blockKey(computeBlock(seriesRef(environment, 0)), encodeBucket(width, minute));
    table.putSync(key, encoder.encode([{ checks, used: 1, viewed: 0 }]));
  };
  const series = { environment, ordinal: 0, name: ['checkout', 'on'] } as const;
  transact(lmdb, () => {
    putSeries({ series: openTable(lmdb, 'series') }, series);
    put(bucketWidth.day, first - 1440, 1);
    put(bucketWidth.hour, first - 60, 2);
    put(bucketWidth.hour, first, 4);
    for (const minute of [10, 20, 70]) put(bucketWidth.minute, first + minute, 8);
  });
  await lmdb.close();
  const store = openUsageTables(data);
  const rollUpState = { ...noRollUp, minutesFrom: first + 60, hoursFrom: first };
  expect(readRollUpState(store.carried, environment)).toEqual(rollUpState);
  const all = (): number[] =>
    (['minute', 'hour', 'day'] as const).flatMap((grain) => [
      ...read(store, first - 1440, first + 1440, grain).values(),
    ]);
  expect(all()).toEqual([31, 31, 31]);
  const aggregator = createAggregator(store);
  while (upkeep(aggregator, first + 75, 1)) expect(all()).toEqual([31, 31, 31]);
  expect(cells(store, bucketWidth.day)).toEqual([3, 20]);
  write(aggregator, [{ minute: first + 15, ordinal: 0, checks: 16 }], first + 75);
  expect(all()).toEqual([47, 47, 47]);
  await store.lmdb.close();
});

const d = bucketWidth.day;
const h = bucketWidth.hour;
const m = bucketWidth.minute;

test.each<[string, { from: number; to: number; grain: Grain }, Partial<typeof noRollUp>, [number, number, number][]]>([
  ['the range has whole days', { from: 0, to: 2880, grain: 'day' }, {}, [[d, 0, 2880]]],
  [
    'the range begins and ends within an hour',
    { from: 1379, to: 4382, grain: 'day' },
    {},
    [
      [m, 1379, 1380],
      [h, 1380, 1440],
      [d, 1440, 4320],
      [h, 4320, 4380],
      [m, 4380, 4382],
    ],
  ],
  [
    'hours are requested',
    { from: 59, to: 121, grain: 'hour' },
    {},
    [
      [m, 59, 60],
      [h, 60, 120],
      [m, 120, 121],
    ],
  ],
  [
    'nothing after the end of the range is rolled up',
    { from: 0, to: 1501, grain: 'day' },
    { minutes: computePlace(1500) },
    [[d, 0, 2880]],
  ],
  [
    'hours are requested, and nothing after the end of the range is rolled up',
    { from: 0, to: 61, grain: 'hour' },
    { minutes: computePlace(61) },
    [[h, 0, 120]],
  ],
  ['minutes are requested', { from: 30, to: 3000, grain: 'minute' }, {}, [[m, 30, 3000]]],
  [
    'the minutes of old hours were deleted',
    { from: 60, to: 300, grain: 'minute' },
    { minutesFrom: 180 },
    [
      [h, 60, 180],
      [m, 180, 300],
    ],
  ],
  [
    'the hours of old days were deleted',
    { from: 0, to: 1500, grain: 'minute' },
    { minutesFrom: 1440, hoursFrom: 1440 },
    [
      [d, 0, 1440],
      [m, 1440, 1500],
    ],
  ],
])('selectSegments selects the cells to read if %s', (_when, wanted, carried, expected) => {
  const segments = selectSegments(wanted, { ...noRollUp, minutes: computePlace(10_000), ...carried });
  expect(segments.map(({ width, from, to }) => [width, from, to])).toEqual(expected);
});
