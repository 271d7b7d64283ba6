import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ExportName, ExportTask } from '../../../src/reports/exports/make-export.ts';
import { RowWriter } from '../../../src/reports/exports/row-writer.ts';
import { Chunks, chunkMemory, writeRows } from '../../../src/reports/exports/rows.ts';
import { findSpanEnd } from '../../../src/reports/exports/usage.ts';
import { ledgerReport } from '../../../src/reports/usage/ledger-report.ts';
import { measurementsReport } from '../../../src/reports/usage/measurements-report.ts';
import { type ReportRange, stepMinutes } from '../../../src/reports/usage/report-range.ts';
import { usageReport } from '../../../src/reports/usage/usage-report.ts';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { bucketAt, ceilToBucket, floorToBucket, horizonsAt, seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { encodeDimensions } from '../../../src/storage/lmdb/ledger.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';
import { readTable } from '../../support/read-csv.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';
import { readChunks, readExport } from './read-chunks.ts';

const environment = { name: 'Production', number: 7, createdAt: 0 };
const hourMs = 3_600_000;
const retention = { minutesMs: 2 * hourMs, hoursMs: 24 * hourMs, daysMs: 24 * 9 * hourMs };
const start = Date.UTC(2026, 0, 31, 5, 17);
const names = [
  [0, ['checkout', 'on']],
  [1, ['amount']],
  [2, ['size', 'checkout', 'on']],
  [40, ['checkout', 'off']],
  [41, ['=cart', 'on']],
] as const;

const event = fc.record({
  /** Time of the event in minutes after `start`. */
  minute: fc.nat({ max: 3 * 1440 }),
  ordinal: fc.constantFrom(0, 40, 41),
  metric: fc.constantFrom(1, 2),
  checks: fc.nat({ max: 1000 }),
  value: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
});
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

/** Counts events that are reported at `now`. Then runs all or some of the upkeep that is due. */
function count(store: UsageTables, events: readonly Event[], now: number, upkeep: number): void {
  const { write, maintain } = createAggregator(store);
  const batch = new Batch();
  const horizons = horizonsAt(now, retention);
  for (const [ordinal, name] of names) {
    batch.series.push({ environment: environment.number, ordinal, name });
  }
  for (const { minute, ordinal, metric, checks, value } of events) {
    const at = start / 60_000 + minute;
    const bucket = bucketAt(at, horizons);
    batch.counts.add(seriesRef(environment.number, ordinal), bucket, checks, 0, 1);
    batch.measurements.add(seriesRef(environment.number, metric), bucket, value, at * 60_000);
    const subject = encodeDimensions({
      environment: ordinal === 0 ? environment.number : null,
      transport: 'http',
      route: 'telemetry',
      outcome: 'accepted',
      status: 202,
      code: null,
      userAgent: `web-${ordinal}`,
      instance: null,
    });
    batch.ledger.add({ application: 1, hour: Math.floor(at / 60), subject }, at * 60_000);
  }
  write(batch.seal());
  const common = { environment: environment.number, exposureDays: 30, horizons, now, limit: 10 } as const;
  for (let step = 0; step < upkeep; step += 1) if (maintain({ ...common, task: 'retention' }) === 0) return;
}

function exported<Name extends ExportName>(store: UsageTables, name: Name, task: ExportTask<Name>) {
  const read = (format: 'csv' | 'ndjson') => Buffer.concat([...readExport(store, { name, task, format })]).toString();
  const objects = read('ndjson').split('\n').slice(0, -1);
  return { csv: readTable(read('csv')), rows: objects.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** Formats objects as in CSV. Names in these tests use only one of the special first characters, `=`. */
function asTexts(rows: readonly Record<string, unknown>[]): Record<string, string>[] {
  const shown = (value: unknown) =>
    value === null ? '' : typeof value === 'string' ? value.replace(/^=/, "'=") : `${value}`;
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shown(value)])));
}

const formatTime = (t: number) => new Date(t * 1000).toISOString();

function usagePoints(store: UsageTables, range: ReportRange, only: string | undefined) {
  const { features } = finish(usageReport(store, environment, range, only));
  return features.flatMap(({ feature, variants }) =>
    variants.flatMap(({ variant, series }) =>
      series.map(([t, checks, used, viewed]) => {
        return { time: formatTime(t), environment: 'Production', feature, variant, checks, used, viewed };
      }),
    ),
  );
}

const byPlace = (a: object, b: object) => Number(JSON.stringify(a) > JSON.stringify(b)) || -1;

test('exports of usage and measurements equal the points of the reports, no matter which data was rolled up', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(event, { maxLength: 12 }), fc.constantFrom(0, 3, 500)), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.constantFrom<ReportRange['step']>('minute', 'hour', 'day'),
      fc.constantFrom(undefined, 'checkout', '=cart'),
      fc.constantFrom(1, 2, 6),
      async (rounds, step, only, days) => {
        const store = openUsageTables(temporaryDirectory());
        let now = start;
        for (const [events, upkeep] of rounds) {
          now += 20 * hourMs;
          count(store, events, now, upkeep);
        }
        const horizons = horizonsAt(now, retention);
        const end = Math.ceil(now / 60_000);
        const range = { from: floorToBucket(end - days * 1440, horizons), to: ceilToBucket(end, horizons), step };
        const usage = exported(store, 'usage', { environment, range, only });
        expect([...usage.rows].sort(byPlace)).toEqual(usagePoints(store, range, only).sort(byPlace));
        expect(usage.csv).toEqual(asTexts(usage.rows));
        const times = usage.rows.map(({ time }) => String(time));
        expect(times).toEqual(times.toSorted());
        const gauges = new Set(['size']);
        const measured = exported(store, 'measurements', { environment, range, only: undefined, gauges });
        expect(measured.csv).toEqual(asTexts(measured.rows));
        expect(
          measured.rows.map(({ time, metric, variant, value }) => [time, metric, variant, value]).sort(byPlace),
        ).toEqual(
          finish(measurementsReport(store, environment, range, undefined, gauges))
            .metrics.flatMap(({ metric, variant = null, series }) =>
              series.map(([t, value]) => [formatTime(t), metric, variant, value]),
            )
            .map((row) => JSON.parse(JSON.stringify(row)))
            .sort(byPlace),
        );
        await store.lmdb.close();
      },
    ),
    { numRuns: 25 },
  );
});

test('an export of the ledger has hourly rows whose sums equal the report', async () => {
  const store = temporaryUsage();
  const events = [0, 40, 90].map((minute): Event => ({ minute, ordinal: 0, metric: 1, checks: 1, value: 1 }));
  count(store, [...events, { ...events[0]!, ordinal: 41 }], start + 2 * hourMs, 0);
  const hours = { from: Math.floor(start / hourMs), to: Math.floor(start / hourMs) + 3 };
  const task = {
    application: { number: 1, environments: [environment] },
    only: undefined,
    unnamed: false,
    hours,
    keys: [],
  };
  const { rows, csv } = exported(store, 'ledger', task);
  expect(rows.map(({ time, environment, userAgent, count }) => [time, environment, userAgent, count])).toEqual([
    ['2026-01-31T05:00:00.000Z', 'Production', 'web-0', 2],
    ['2026-01-31T05:00:00.000Z', null, 'web-41', 1],
    ['2026-01-31T06:00:00.000Z', 'Production', 'web-0', 1],
  ]);
  expect(csv).toHaveLength(3);
  const report = finish(ledgerReport(store, task));
  expect(rows.reduce((sum, { count }) => sum + Number(count), 0)).toBe(report.accepted);
  expect(exported(store, 'ledger', { ...task, only: environment }).rows).toHaveLength(2);
  expect(exported(store, 'ledger', { ...task, only: environment, unnamed: true }).rows).toHaveLength(3);
});

test('findSpanEnd limits the counts of a period, and ends the period at the end of a bucket', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 30 * 1440 }),
      fc.constantFrom<ReportRange['step']>('minute', 'hour', 'day'),
      fc.nat({ max: 200_000 }),
      fc.nat({ max: 31 * 24 }),
      fc.nat({ max: 31 }),
      (from, step, series, hours, days) => {
        const kept = { minutesFrom: Math.max(hours * 60, days * 1440), hoursFrom: days * 1440 };
        const end = findSpanEnd(from, step, series, kept);
        expect(end).toBeGreaterThan(from);
        expect(end % stepMinutes[step]).toBe(0);
        const width = from < kept.hoursFrom ? 1440 : from < kept.minutesFrom ? 60 : 1;
        const buckets = Math.ceil((end - from) / Math.max(width, stepMinutes[step]));
        expect(buckets === 1 || buckets * series <= 100_000).toBe(true);
      },
    ),
  );
});

const columns = { text: { description: '', example: '' } };

test('an export that is abandoned during a chunk closes its row iterator', () => {
  let isClosed = false;
  function* rows() {
    try {
      for (;;) yield undefined;
    } finally {
      isClosed = true;
    }
  }
  const chunk = new Chunks(new RowWriter('csv', columns), rows(), chunkMemory()).next();
  chunk.next();
  chunk.return({ length: 0, isLast: true });
  expect(isClosed).toBe(true);
});

test('export chunks are UTF-8 and have a constant size, even if rows are long', () => {
  const texts = Array.from({ length: 40 }, (_, at) => 'aß€😀'.repeat(at === 7 ? 100_000 : 1_000));
  const writer = new RowWriter('ndjson', columns);
  const memory = chunkMemory();
  const chunks = [
    ...readChunks(
      new Chunks(
        writer,
        writeRows(writer, texts, (text) => [text]),
        memory,
      ),
      memory,
    ),
  ];
  const last = chunks.pop()!;
  expect(new Set(chunks.map(({ length }) => length))).toEqual(new Set([memory.byteLength / 2]));
  const lines = Buffer.concat([...chunks, last])
    .toString()
    .split('\n');
  expect(lines.slice(0, -1).map((line) => JSON.parse(line).text)).toEqual(texts);
});
