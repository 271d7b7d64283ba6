export interface ChartTimes {
  /** A bucket in full. */
  bucket(start: number): string;
  /** Consecutive buckets. */
  span(start: number, end: number): string;
  /** A label of the time axis. @param increment distance to the next label, seconds */
  tick(time: number, increment: number): string;
  /** The time zone; `undefined` for the browser's. */
  readonly zone: string | undefined;
}

export const daySeconds = 86_400;

/**
 * @param width of a bucket, seconds
 * @param zone by default the browser's
 * @param locale by default the browser's
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

/** Distances of labels, seconds. */
const distances = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * 3600),
  ...[1, 2, 7, 14, 28].map((days) => days * daySeconds),
];

/** The distances of labels of the time axis: at least a bucket, so that no label is repeated. @param width of a bucket, seconds */
export function tickDistances(width: number): number[] {
  return distances.filter((distance) => distance >= width);
}

/** The width of a bucket in words: `per hour`. @param width seconds */
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
