import { toCsv } from '../csv.ts';
import type { Described } from './announcement.ts';
import { markersIn, startOf } from './series.ts';

/** The figures of a chart as CSV: times in UTC, oldest first. */
export function figuresCsv({ buckets, series, markers }: Described): string {
  const rows = Array.from({ length: buckets.count }, (_, index) => [
    new Date(startOf(buckets, index) * 1000).toISOString(),
    ...series.map(({ values }) => values[index] ?? 0),
    markersIn(buckets, markers, index)
      .map(({ label }) => label)
      .join(', '),
  ]);
  return toCsv(['Time', ...series.map(({ label }) => label), 'What happened'], rows);
}
