import { toCsv } from '../download.ts';
import { type Buckets, bucketStart, type ChartSeries, type Marker, markersIn } from './series.ts';

/** The texts of a bucket, for the tooltip, the table and screen readers. */
interface BucketText {
  /** Unix seconds. */
  readonly start: number;
  readonly when: string;
  readonly values: readonly { readonly series: ChartSeries; readonly value: string }[];
  readonly markers: readonly string[];
}

export interface ChartData {
  readonly buckets: Buckets;
  readonly series: readonly ChartSeries[];
  readonly markers: readonly Marker[];
  readonly unfinishedFrom: number | undefined;
  readonly times: ChartTimes;
  readonly format: (value: number) => string;
}

export function bucketText(of: ChartData, index: number): BucketText {
  const unfinished = of.unfinishedFrom !== undefined && index >= of.unfinishedFrom;
  const start = bucketStart(of.buckets, index);
  return {
    start,
    when: of.times.bucket(start) + (unfinished ? ', so far' : ''),
    values: of.series.map((series) => ({ series, value: of.format(series.values[index] ?? 0) })),
    markers: markersIn(of.buckets, of.markers, index),
  };
}

export function spoken(of: ChartData, first: number, last: number): string {
  if (first === last) {
    const { when, values, markers } = bucketText(of, first);
    const figures = values.map(({ series, value }) => `${series.label} ${value}`);
    return `${[`${when}: ${figures.join(', ')}`, ...markers].join('. ')}.`;
  }
  const span = of.times.span(bucketStart(of.buckets, first), bucketStart(of.buckets, last + 1));
  return `Selected ${span}. Enter zooms in, Escape clears.`;
}

/** Formats the figures of a chart as CSV, oldest first, with times in UTC. Markers are optional. */
export function figuresCsv({
  buckets,
  series,
  markers,
}: Pick<ChartData, 'buckets' | 'series'> & Partial<Pick<ChartData, 'markers'>>): string {
  const rows = Array.from({ length: buckets.count }, (_, index) => [
    new Date(bucketStart(buckets, index) * 1000).toISOString(),
    ...series.map(({ values }) => values[index] ?? 0),
    ...(markers === undefined ? [] : [markersIn(buckets, markers, index).join(', ')]),
  ]);
  const labels = series.map(({ label }) => label);
  return toCsv(['Time', ...labels, ...(markers === undefined ? [] : ['What happened'])], rows);
}

export interface ChartTimes {
  bucket(start: number): string;
  span(start: number, end: number): string;
  /** Formats a label of the time axis. @param increment distance to the next label, seconds */
  tick(time: number, increment: number): string;
  /** The time zone; `undefined` for the browser's time zone. */
  readonly zone: string | undefined;
}

export const daySeconds = 86_400;

/**
 * @param width of a bucket, seconds
 * @param zone by default the browser's time zone
 * @param locale by default the browser's locale
 */
export function chartTimes(width: number, zone?: string, locale?: string): ChartTimes {
  const days = width >= daySeconds;
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, ...(zone === undefined ? {} : { timeZone: zone }) });
  const seconds = width < 60 ? ({ second: '2-digit' } as const) : {};
  const clock = { hour: 'numeric', minute: '2-digit', ...seconds } as const;
  const date = { day: 'numeric', month: 'short' } as const;
  const full = format({ weekday: 'short', ...date, ...(days ? {} : clock) });
  const time = format(clock);
  const day = format(date);
  const hour = format({ hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' });
  const isMidnight = (at: number) => /^0?0\D?00\D?00$/.test(hour.format(at * 1000));
  const said = days && zone === 'UTC' ? ' UTC' : '';
  return {
    bucket: (start) => full.format(start * 1000) + said,
    span: (start, end) => full.formatRange(start * 1000, (days ? end - 1 : end) * 1000) + said,
    tick: (at, increment) => (increment >= daySeconds || isMidnight(at) ? day : time).format(at * 1000),
    zone,
  };
}

const distances = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * 3600),
  ...[1, 2, 7, 14, 28].map((days) => days * daySeconds),
];

/**
 * Returns the possible distances between time labels. Labels are at least one bucket apart, so that none is repeated.
 * @param width of a bucket, seconds
 */
export function tickDistances(width: number): number[] {
  return distances.filter((distance) => distance >= width);
}

/** Formats the width of a bucket: `per hour`. @param width seconds */
export function perBucket(width: number): string {
  const [name, length] = (
    [
      ['day', daySeconds],
      ['hour', 3600],
      ['minute', 60],
    ] as const
  ).find(([, length]) => width % length === 0) ?? ['second', 1];
  const count = width / length;
  return count === 1 ? `per ${name}` : `per ${count} ${name}s`;
}
