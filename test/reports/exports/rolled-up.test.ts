import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { bucketAt, horizonsAt, seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { readTable } from '../../support/read-csv.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';
import { readExport } from './read-chunks.ts';

/** Tests exports while data is rolled up. */

const environment = { name: 'Production', number: 7, createdAt: 0 };
const hourMs = 3_600_000;
const retention = { minutesMs: 2 * hourMs, hoursMs: 24 * hourMs, daysMs: 24 * 9 * hourMs };
const start = Date.UTC(2026, 0, 31, 5, 17);

test.each([
  ['during one of its reads', 3000, true, true],
  ['between two of its reads', 1, true, false],
  ['only later', 3000, false, false],
])('an export is complete or aborted if its hour is rolled up %s', async (_, series, isRolledUp, breaks) => {
  const store = temporaryUsage();
  const { write, maintain } = createAggregator(store);
  const hour = Math.floor(start / hourMs) * 60;
  const now = hour * 60_000 + hourMs;
  const horizons = horizonsAt(now, retention);
  const batch = new Batch();
  for (let ordinal = 0; ordinal < series; ordinal += 1) {
    batch.series.push({ environment: environment.number, ordinal, name: [`flag-${ordinal}`, 'on'] });
    for (let minute = hour; minute < hour + 60; minute += 1)
      batch.counts.add(seriesRef(environment.number, ordinal), bucketAt(minute, horizons), 1, 0, 0);
  }
  write(batch.seal());
  const range = { from: hour, to: hour + 60, step: 'minute' } as const;
  const task = { environment, range, only: undefined };
  const chunks = readExport(store, { name: 'usage', task, format: 'csv' });
  const read = [chunks.next().value!];
  if (isRolledUp) {
    const later = now + retention.minutesMs + 2 * hourMs;
    const common = { environment: environment.number, exposureDays: 30, limit: 1000 } as const;
    const step = { ...common, task: 'retention', horizons: horizonsAt(later, retention), now: later } as const;
    while (maintain(step) > 0);
  }
  if (breaks) expect(() => read.push(...chunks)).toThrow('rolled up during the export');
  else {
    read.push(...chunks);
    const rows = readTable(Buffer.concat(read).toString());
    expect(rows.reduce((sum, { checks }) => sum + Number(checks), 0)).toBe(60 * series);
  }
});

test.each([
  ['hour', false],
  ['minute', true],
] as const)(
  'an export of measurements by %s is complete or aborted if its day is rolled up during the export',
  async (step, breaks) => {
    const store = temporaryUsage();
    const { write, maintain } = createAggregator(store);
    const day = Math.floor(start / 86_400_000) * 1440;
    const now = (day + 1440) * 60_000;
    const batch = new Batch();
    for (let ordinal = 0; ordinal < 100; ordinal += 1) {
      batch.series.push({ environment: environment.number, ordinal, name: [`metric-${ordinal}`] });
      for (let minute = day; minute < day + 1440; minute += 60) {
        const bucket = bucketAt(minute, horizonsAt(now, retention));
        batch.measurements.add(seriesRef(environment.number, ordinal), bucket, 1, minute * 60_000);
      }
    }
    write(batch.seal());
    const range = { from: day, to: day + 1440, step };
    const task = { environment, range, only: undefined, gauges: new Set<string>() };
    const chunks = readExport(store, { name: 'measurements', task, format: 'csv' });
    const read = [chunks.next().value!];
    const later = now + 3 * 24 * hourMs;
    const common = { environment: environment.number, exposureDays: 30, limit: 1000 } as const;
    const work = { ...common, task: 'retention', horizons: horizonsAt(later, retention), now: later } as const;
    while (maintain(work) > 0);
    if (breaks) expect(() => read.push(...chunks)).toThrow('rolled up during the export');
    else {
      read.push(...chunks);
      const rows = readTable(Buffer.concat(read).toString());
      expect([read.length > 1, rows.length]).toEqual([true, 24 * 100]);
    }
  },
);
