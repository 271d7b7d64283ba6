import { toCsv } from '../csv.ts';
import { type Buckets, type ChartSeries, type Marker, markersIn, startOf } from './series.ts';
import type { ChartTimes } from './times.ts';

/** One bucket as the tooltip, the table and a screen reader present it. */
interface BucketText {
  /** Unix seconds. */
  readonly start: number;
  readonly when: string;
  readonly values: readonly { readonly series: ChartSeries; readonly value: string }[];
  readonly markers: readonly string[];
}

export interface Described {
  readonly buckets: Buckets;
  readonly series: readonly ChartSeries[];
  readonly markers: readonly Marker[];
  readonly unfinishedFrom: number | undefined;
  readonly times: ChartTimes;
  readonly format: (value: number) => string;
}

export function bucketText(of: Described, index: number): BucketText {
  const unfinished = of.unfinishedFrom !== undefined && index >= of.unfinishedFrom;
  const start = startOf(of.buckets, index);
  return {
    start,
    when: of.times.bucket(start) + (unfinished ? ', so far' : ''),
    values: of.series.map((series) => ({ series, value: of.format(series.values[index] ?? 0) })),
    markers: markersIn(of.buckets, of.markers, index),
  };
}

/** A sentence about one bucket, or about a selected range. */
export function spoken(of: Described, first: number, last: number): string {
  if (first === last) {
    const { when, values, markers } = bucketText(of, first);
    const figures = values.map(({ series, value }) => `${series.label} ${value}`);
    return `${[`${when}: ${figures.join(', ')}`, ...markers].join('. ')}.`;
  }
  const span = of.times.span(startOf(of.buckets, first), startOf(of.buckets, last + 1));
  return `Selected ${span}. Enter zooms in, Escape clears.`;
}

/** The figures of a chart as CSV, oldest first, with times in UTC. A chart without `markers` has no column for them. */
export function figuresCsv({
  buckets,
  series,
  markers,
}: Pick<Described, 'buckets' | 'series'> & Partial<Pick<Described, 'markers'>>): string {
  const rows = Array.from({ length: buckets.count }, (_, index) => [
    new Date(startOf(buckets, index) * 1000).toISOString(),
    ...series.map(({ values }) => values[index] ?? 0),
    ...(markers === undefined ? [] : [markersIn(buckets, markers, index).join(', ')]),
  ]);
  const labels = series.map(({ label }) => label);
  return toCsv(['Time', ...labels, ...(markers === undefined ? [] : ['What happened'])], rows);
}
