import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queryReader } from '../../../src/http/query-reader.ts';
import { measurementsReport } from '../../../src/reports/usage/measurements-report.ts';
import { readReportRange, reportRange } from '../../../src/reports/usage/report-range.ts';
import { usageReport } from '../../../src/reports/usage/usage-report.ts';
import type { Maintenance } from '../../../src/storage/aggregate/maintain.ts';
import { type Aggregator, createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import {
  bucketAt,
  bucketWidth,
  horizonsAt,
  measurementCodec,
  scanCells,
  seriesRef,
} from '../../../src/storage/lmdb/blocks.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const environment = { name: 'Production', number: 7 };
const hourMs = 3_600_000;
const retention = { minutesMs: 2 * hourMs, hoursMs: 24 * hourMs, daysMs: 24 * 5 * hourMs };
const start = Date.UTC(2026, 0, 31);

interface Event {
  /** Time of the event in minutes after `start`. */
  readonly minute: number;
  readonly ordinal: number;
  readonly checks: number;
  readonly value: number;
}

const event = fc.record({
  minute: fc.nat({ max: 3 * 1440 }),
  ordinal: fc.constantFrom(0, 40),
  checks: fc.nat({ max: 1000 }),
  value: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
});

/** Adds events that are reported at `now`. The age of an event at `now` determines the width of its bucket. */
function add({ write }: Aggregator, events: readonly Event[], now: number): void {
  const batch = new Batch();
  const horizons = horizonsAt(now, retention);
  batch.series.push(
    { environment: environment.number, ordinal: 0, name: ['checkout', 'on'] },
    { environment: environment.number, ordinal: 40, name: ['checkout', 'off'] },
    { environment: environment.number, ordinal: 1, name: ['amount'] },
  );
  for (const { minute, ordinal, checks, value } of events) {
    const at = start / 60_000 + minute;
    const bucket = bucketAt(at, horizons);
    batch.counts.add(seriesRef(environment.number, ordinal), bucket, checks, 0, 1);
    batch.measurements.add(seriesRef(environment.number, 1), bucket, value, at * 60_000);
  }
  write(batch.seal());
}

function stepAt(now: number, limit: number): Maintenance {
  const horizons = horizonsAt(now, retention);
  return { task: 'retention', environment: environment.number, now, exposureDays: 30, horizons, limit };
}

function rollUpAll({ maintain }: Aggregator, now: number, limit: number): void {
  while (maintain(stepAt(now, limit)) > 0);
}

const readQuery = queryReader(reportRange);

async function reports(store: UsageTables, now: number, query: Record<string, string>) {
  const range = readReportRange(readQuery(String(new URLSearchParams(query))), now, retention);
  return {
    usage: finish(usageReport(store, environment, range, undefined)),
    measurements: finish(measurementsReport(store, environment, range, undefined)),
  };
}

/** Removes series and steps from a report, because data that was rolled up to days no longer has hours. */
function withoutSeries(report: unknown): unknown {
  return JSON.parse(JSON.stringify(report), (key, value) => (key === 'series' || key === 'step' ? undefined : value));
}

/** Number of cells of measurements, by width: minutes, hours and days. */
function widths(store: UsageTables): number[] {
  return Object.values(bucketWidth).map(
    (width) => [...scanCells(store.measurements, measurementCodec, environment.number, width, 0, 2 ** 32 - 1)].length,
  );
}

test('every report, including late data, is identical before and after the roll-up', async () => {
  const when = fc.nat({ max: 4 * 1440 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 40 }),
      fc.array(event, { maxLength: 10 }),
      when,
      when,
      fc.integer({ min: 1, max: 5 }),
      async (events, late, a, b, limit) => {
        const store = openUsageTables(temporaryDirectory());
        const aggregator = createAggregator(store);
        const now = start + 3.5 * 24 * hourMs;
        add(aggregator, events, start);
        rollUpAll(aggregator, start + 30 * hourMs, limit);
        add(aggregator, late, now);
        const time = (minute: number) => new Date(start + minute * 60_000).toISOString();
        const from = time(Math.min(a, b));
        const to = time(Math.max(a, b) + 1);
        const before = await reports(store, now, { from, to, step: 'day' });
        rollUpAll(aggregator, now, limit);
        expect(await reports(store, now, { from, to, step: 'day' })).toEqual(before);
        const byHour = await reports(store, now, { from, to, step: 'hour' });
        expect(withoutSeries(byHour)).toEqual(withoutSeries(before));
        await store.lmdb.close();
      },
    ),
    { numRuns: 25 },
  );
});

test('measurements are rolled up from minutes to hours and then to days, and old days are deleted', async () => {
  const store = temporaryUsage();
  const aggregator = createAggregator(store);
  const events = [0, 1, 61].map((minute) => ({ minute, ordinal: 0, checks: 1, value: 1 }));
  add(aggregator, events, start);
  expect(widths(store)).toEqual([3, 0, 0]);
  const after = (hours: number) => rollUpAll(aggregator, start + hours * hourMs, 2);
  after(3.5);
  expect(widths(store)).toEqual([1, 1, 0]);
  after(5);
  expect(widths(store)).toEqual([0, 2, 0]);
  after(49);
  expect(widths(store)).toEqual([0, 0, 1]);
  after(24 * 7);
  expect(widths(store)).toEqual([0, 0, 0]);
});

test('an upkeep step does at most `limit` units of work, and returns 0 once nothing is left', async () => {
  const store = temporaryUsage();
  const aggregator = createAggregator(store);
  const events = Array.from({ length: 10 }, (_, minute) => ({ minute, ordinal: 0, checks: 1, value: 1 }));
  add(aggregator, events, start);
  const one = stepAt(start + 5 * hourMs, 6);
  // Rolling up 11 blocks of counts takes 2 units, because 8 blocks take one unit. Deleting and rolling up 10 blocks
  // takes 20 units.
  expect([1, 2, 3, 4, 5].map(() => aggregator.maintain(one))).toEqual([6, 6, 6, 4, 0]);
});
