import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Overview } from '../../src/contract/shapes/overview.ts';
import { queryReader } from '../../src/http/query-reader.ts';
import { SplitCache } from '../../src/reports/experiments/split-report.ts';
import { OverviewBases } from '../../src/reports/overview/overview-counts.ts';
import { overviewRange, readOverviewRange } from '../../src/reports/overview/overview-range.ts';
import { overviewReport } from '../../src/reports/overview/overview-report.ts';
import { usageReport } from '../../src/reports/usage/usage-report.ts';
import { Verdicts } from '../../src/reports/verdicts/verdicts.ts';
import { UserUnions } from '../../src/storage/aggregate/unique-users.ts';
import { type Aggregator, createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketAt, horizonsAt, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';
import { openUsageTables, type UsageTables } from '../../src/storage/lmdb/usage.ts';
import { finish } from '../support/finish.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';

const environment = { name: 'Production', number: 7, createdAt: 0 };
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const retention = { minutesMs: 5 * hourMs, hoursMs: 3 * dayMs, daysMs: 90 * dayMs };
const now = Date.UTC(2026, 0, 31, 15, 42, 10);
const nowMinute = Math.floor(now / minuteMs);
const names = [
  ['checkout', 'on'],
  ['checkout', 'off'],
  ['banner', 'on'],
  ['search', 'on'],
] as const;

/** Counts events that happened some minutes ago, and were received immediately. */
function count(aggregator: Aggregator, seen: readonly { ago: number; series: number; checks: number }[]): void {
  const first = new Batch();
  for (const each of new Set(seen.map(({ series }) => series))) {
    first.series.push({ environment: environment.number, ordinal: each * 40, name: names[each]! });
  }
  aggregator.write(first.seal());
  for (const { ago, series, checks } of seen.toSorted((a, b) => b.ago - a.ago)) {
    const batch = new Batch();
    const minute = nowMinute - ago;
    const bucket = bucketAt(minute, horizonsAt(minute * minuteMs, retention));
    batch.counts.add(seriesRef(environment.number, series * 40), bucket, checks, 1, 0);
    batch.users.add(seriesRef(environment.number, environmentOrdinal), minute, series * 7_654_321, 1);
    aggregator.write(batch.seal());
  }
}

const readQuery = queryReader(overviewRange);

/** Reads an overview. Without `bases`, nothing is cached. */
function read(store: UsageTables, query: Record<string, string>, bases = new OverviewBases(store)): Overview {
  const ranges = readOverviewRange(readQuery(String(new URLSearchParams(query))), now, retention);
  const place = { application: 1, environment, environments: [environment] };
  const declarations = { declared: [], owned: new Map(), leakedKeys: 0 };
  const task = { ...ranges, ...place, now, retention, staleAfterMs: 30 * dayMs, ...declarations };
  const splits = new SplitCache(store, new UserUnions(store));
  return finish(overviewReport(store, { bases, splits, verdicts: new Verdicts(store) }, task));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const parseMinute = (text: string) => Date.parse(text) / minuteMs;

/** Removes the buckets of the previous range, which the first overview of a range lacks. */
function withoutPast({ before, ...rest }: Overview) {
  return { ...rest, before: before && { ...before, series: 0 } };
}

/** Removes the numbers that a roll-up can move to another bucket. */
function withoutSeries(overview: Overview) {
  return { ...withoutPast(overview), series: 0, features: 0 };
}

test("an overview's totals, series and rows agree with the usage report, both before and after a roll-up", async () => {
  const seen = fc.record({
    ago: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 20_000 })),
    series: fc.nat({ max: 2 }),
    checks: fc.integer({ min: 1, max: 1000 }),
  });
  const range = fc.record({
    ago: fc.nat({ max: 10_000 }),
    length: fc.integer({ min: 1, max: 9000 }),
    step: fc.constantFrom('minute', 'hour', 'day'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(seen, { maxLength: 25 }), range, async (all, { ago, length, step }) => {
      const store = openUsageTables(temporaryDirectory());
      const aggregator = createAggregator(store);
      count(aggregator, all);
      const time = (minute: number) => new Date(minute * minuteMs).toISOString();
      const query = { from: time(nowMinute - ago), to: time(nowMinute - ago + length), step };
      const shown = read(store, query);
      const inside = ({ from, to }: { from: string; to: string }, isWanted: (series: number) => boolean = () => true) =>
        sum(
          all
            .filter(({ series }) => isWanted(series))
            .filter(({ ago }) => nowMinute - ago >= parseMinute(from) && nowMinute - ago < parseMinute(to))
            .map(({ checks }) => checks),
        );
      expect(shown.totals.checks).toBe(inside(shown));
      for (const each of ['checks', 'used', 'viewed'] as const) {
        expect(shown.series[each]).toHaveLength(shown.length);
        expect(sum(shown.series[each])).toBe(shown.totals[each]);
        expect(sum(shown.features.map((feature) => feature[each]))).toBe(shown.totals[each]);
      }
      for (const { checks, spark, variants } of shown.features) {
        expect(spark.length).toBeLessThanOrEqual(30);
        expect(spark).toHaveLength(shown.spark.length);
        expect(sum(spark)).toBe(checks);
        expect(sum(variants.map(([, each]) => each))).toBe(checks);
      }
      expect(shown.spark.width % shown.width).toBe(0);
      const usage = finish(
        usageReport(
          store,
          environment,
          { from: parseMinute(shown.from), to: parseMinute(shown.to), step: shown.step },
          undefined,
        ),
      );
      expect(sum(usage.features.map(({ checks }) => checks))).toBe(shown.totals.checks);
      for (const { feature, compared } of shown.features) {
        const of = (span: { from: string; to: string } | undefined) =>
          span && inside(span, (series) => names[series]![0] === feature);
        const [checks, before] = compared ?? [undefined, undefined];
        if (compared !== undefined && shown.before !== null)
          expect([checks, before]).toEqual([of(shown.before.against), of(shown.before)]);
      }
      if (shown.before !== null) {
        expect(shown.before.checks).toBe(inside(shown.before));
        expect(shown.before.against.checks).toBe(inside(shown.before.against));
      }
      const step8 = { task: 'retention', environment: environment.number, exposureDays: 30, limit: 8 } as const;
      while (aggregator.maintain({ ...step8, now, horizons: horizonsAt(now, retention) }) > 0);
      const bases = new OverviewBases(store);
      const after = read(store, query, bases);
      expect(withoutSeries(after)).toEqual(withoutSeries(shown));
      const rows = ({ features }: Overview) => features.map(({ spark: _, ...row }) => row);
      expect(rows(after)).toEqual(rows(shown));
      expect(withoutPast(read(store, query, bases))).toEqual(withoutPast(after));
      count(
        aggregator,
        all.map(({ ago, checks }) => ({ ago, checks, series: 3 })),
      );
      expect(withoutPast(read(store, query, bases))).toEqual(withoutPast(read(store, query)));
      await store.lmdb.close();
    }),
    { numRuns: 40 },
  );
});

test('an overview counts each user once over complete UTC days, and compares the same number of days', async () => {
  const store = temporaryUsage();
  const days = (ago: number) => ago * 1440;
  const seen = [0, 0, days(1), days(2), days(3), days(4), days(5), days(6)];
  count(
    createAggregator(store),
    seen.map((ago, at) => ({ ago, series: at % 3, checks: 1 })),
  );
  const shown = read(store, { from: '2026-01-29T10:00:00Z' });
  expect(shown.users).toEqual({ count: 2, from: '2026-01-29', to: '2026-01-30' });
  expect(shown.days).toEqual([
    [Date.UTC(2026, 0, 29) / 1000, 1],
    [Date.UTC(2026, 0, 30) / 1000, 1],
    [Date.UTC(2026, 0, 31) / 1000, 2],
  ]);
  expect(shown.usersBefore).toEqual({
    count: 2,
    from: '2026-01-27',
    to: '2026-01-28',
    against: { count: 2, from: '2026-01-29', to: '2026-01-30' },
  });
});

test('an overview includes the users of today if its complete days have no users', () => {
  const store = temporaryUsage();
  count(createAggregator(store), [{ ago: 20, series: 0, checks: 1 }]);
  const shown = read(store, { from: '2026-01-29T10:00:00Z' });
  expect(shown).toMatchObject({ users: { count: 1, from: '2026-01-29', to: '2026-01-31' }, usersBefore: null });
});

test('an overview is not compared with a time before the first count', async () => {
  const store = temporaryUsage();
  const aggregator = createAggregator(store);
  count(aggregator, [
    { ago: 60, series: 0, checks: 1 },
    { ago: 20, series: 0, checks: 1 },
  ]);
  expect(read(store, {})).toMatchObject({ before: null, usersBefore: null });
  expect(read(store, { from: '2026-01-31T15:30:00Z' }).before).toMatchObject({ checks: 1, against: { checks: 0 } });
});
