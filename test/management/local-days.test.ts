import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayAt } from '../../src/contract/calendar.ts';
import type { Overview } from '../../src/contract/shapes/overview.ts';
import { queryReader } from '../../src/http/query-reader.ts';
import { SplitCache } from '../../src/reports/experiments/split-report.ts';
import { OverviewBases } from '../../src/reports/overview/overview-counts.ts';
import { overviewRange, readOverviewRange } from '../../src/reports/overview/overview-range.ts';
import { overviewReport } from '../../src/reports/overview/overview-report.ts';
import { measurementsReport } from '../../src/reports/usage/measurements-report.ts';
import { usageReport } from '../../src/reports/usage/usage-report.ts';
import { Verdicts } from '../../src/reports/verdicts/verdicts.ts';
import { UserUnions } from '../../src/storage/aggregate/unique-users.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketAt, horizonsAt, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { openUsageTables, type UsageTables } from '../../src/storage/lmdb/usage.ts';
import { finish } from '../support/finish.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const environment = { name: 'Production', number: 7, createdAt: 0 };
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const retention = { minutesMs: 5 * hourMs, hoursMs: 40 * dayMs, daysMs: 900 * dayMs };
/** Eight days after clocks changed in Europe, and one day after they changed in America. */
const now = Date.UTC(2026, 10, 2, 15, 42, 10);
const nowMinute = Math.floor(now / minuteMs);

interface Sighting {
  /** Age of the packet, minutes. */
  readonly ago: number;
  readonly checks: number;
}

function createStore(all: readonly Sighting[]) {
  const store = openUsageTables(temporaryDirectory());
  const aggregator = createAggregator(store);
  const first = new Batch();
  first.series.push({ environment: environment.number, ordinal: 0, name: ['checkout', 'on'] });
  first.series.push({ environment: environment.number, ordinal: 40, name: ['sales'] });
  aggregator.write(first.seal());
  for (const { ago, checks } of all.toSorted((a, b) => b.ago - a.ago)) {
    const batch = new Batch();
    const minute = nowMinute - ago;
    const bucket = bucketAt(minute, horizonsAt(minute * minuteMs, retention));
    batch.counts.add(seriesRef(environment.number, 0), bucket, checks, 1, 0);
    batch.measurements.add(seriesRef(environment.number, 40), bucket, checks, minute * minuteMs);
    aggregator.write(batch.seal());
  }
  const task = { task: 'retention', environment: environment.number, exposureDays: 30, limit: 8 } as const;
  while (aggregator.maintain({ ...task, now, horizons: horizonsAt(now, retention) }) > 0);
  return store;
}

const readQuery = queryReader(overviewRange);

function read(store: UsageTables, query: Record<string, string>, bases = new OverviewBases(store)) {
  const ranges = readOverviewRange(readQuery(String(new URLSearchParams(query))), now, retention);
  const place = {
    application: 1,
    environment,
    environments: [environment],
    declared: [],
    owned: new Map(),
    leakedKeys: 0,
  };
  const task = { ...ranges, ...place, now, retention, staleAfterMs: 30 * dayMs };
  const splits = new SplitCache(store, new UserUnions(store));
  const known = { bases, splits, verdicts: new Verdicts(store) };
  return { range: ranges.range, overview: finish(overviewReport(store, known, task)) };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const seen = fc.array(fc.record({ ago: fc.nat({ max: 30 * 24 * 60 }), checks: fc.integer({ min: 1, max: 1000 }) }), {
  maxLength: 25,
});

test('days of a time zone cover a range without overlap, and their counts are the sums of their hours', async () => {
  const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Pacific/Auckland', 'Asia/Tokyo');
  await fc.assert(
    fc.asyncProperty(seen, zones, fc.nat({ max: 20 }), async (all, timeZone, days) => {
      const store = createStore(all);
      const from = new Date(now - (days + 1) * dayMs).toISOString().replace(/:.*/, ':00:00Z');
      const to = new Date(Math.ceil(now / hourMs) * hourMs).toISOString();
      const { range, overview } = read(store, { from, to, timeZone, step: 'day' });
      const { starts = [], series } = overview;
      expect(overview).toMatchObject({ timeZone, length: starts.length, start: starts[0] });
      const counted = (begin: number, end: number) =>
        sum(
          all
            .filter(({ ago }) => (nowMinute - ago) * 60 >= begin && (nowMinute - ago) * 60 < end)
            .map(({ checks }) => checks),
        );
      const ends = [...starts.slice(1), Date.parse(to) / 1000];
      const begins = [Date.parse(from) / 1000, ...starts.slice(1)];
      expect(series.checks).toEqual(begins.map((begin, index) => counted(begin, ends[index]!)));
      for (const start of starts) expect(dayAt(timeZone, (start - 1) * 1000)).toBe(dayAt(timeZone, start * 1000) - 1);
      const hours = read(store, { from, to, timeZone, step: 'hour' }).overview;
      expect(sum(hours.series.checks)).toBe(sum(series.checks));
      expect(sum(overview.features.flatMap(({ spark }) => spark))).toBe(sum(series.checks));

      const usage = finish(usageReport(store, environment, range, undefined));
      const points = usage.features.flatMap(({ variants }) => variants.flatMap((variant) => variant.series));
      const expected = starts.flatMap((t, index) => (series.checks[index]! > 0 ? [[t, series.checks[index]]] : []));
      expect(points.map(([t, checks]) => [t, checks])).toEqual(expected);
      const measured = finish(measurementsReport(store, environment, range, undefined));
      expect(measured.metrics.flatMap((metric) => metric.series)).toEqual(expected);
      await store.lmdb.close();
    }),
    { numRuns: 20 },
  );
});

test('a report uses UTC days if hourly counts are not retained, or if local days begin within a UTC hour', async () => {
  const store = createStore([{ ago: 60, checks: 1 }]);
  const old = { from: '2026-08-01T00:00:00Z', step: 'day', timeZone: 'Europe/Berlin' };
  expect(read(store, old).overview).toMatchObject({ timeZone: 'UTC', width: 86_400 });
  const india = { from: '2026-10-30T18:30:00Z', step: 'day', timeZone: 'Asia/Kolkata' };
  const { overview } = read(store, india);
  expect(overview.timeZone).toBe('UTC');
  expect(overview).not.toHaveProperty('starts');
  expect(read(store, { ...india, step: 'hour' }).overview.timeZone).toBe('Asia/Kolkata');
  await store.lmdb.close();
});

test.each([
  ['day', { from: '2026-11-01T04:00:00Z', step: 'hour' }],
  ['week', { from: '2026-10-26T04:00:00Z', step: 'day' }],
  ['month', { from: '2026-10-26T04:00:00Z', step: 'day' }],
])('the previous range with compare=%s has the same number of buckets as the range', async (compare, query) => {
  const each = { '2026-10-31T10:20Z': 3, '2026-10-20T12:00Z': 5, '2026-09-24T10:00Z': 1, '2026-11-01T10:10Z': 2 };
  const all = Object.entries(each).map(([at, checks]) => ({ ago: nowMinute - Date.parse(at) / minuteMs, checks }));
  const store = createStore(all);
  const bases = new OverviewBases(store);
  const again = () => read(store, { ...query, compare, timeZone: 'America/New_York' }, bases).overview;
  expect(again().before).not.toHaveProperty('series'); // This read does not wait for series.
  const overview = again();
  const { before } = overview as { before: NonNullable<Overview['before']> };
  expect(before).not.toBeNull();
  expect(before.series!.checks.length).toBeLessThanOrEqual(overview.length);
  const first = before.series!.checks.findIndex((value) => value > 0);
  expect([sum(before.series!.checks), first]).toEqual({ day: [3, 6], week: [5, 1], month: [0, -1] }[compare as 'day']);
  await store.lmdb.close();
});
