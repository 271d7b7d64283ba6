/** A point in time: Unix ms, or RFC 3339 as in the API. */
export type Instant = number | string | Date;

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Units of time by their length in ms, the longest first. */
export const timeUnits = [
  ['day', day],
  ['hour', hour],
  ['minute', minute],
  ['second', second],
] as const;

/** Times up to this distance are shown as relative times, and other times as dates. */
const relativeMs = 15 * day;

/**
 * Returns a formatter of the distance between a time and now, both in Unix ms: `3 minutes ago`, `now`. The formatter
 * returns `undefined` for a time that is more than two weeks away.
 */
export function relativeTimes(locale: string | undefined, style: 'long' | 'short' = 'long') {
  const relatives = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style });
  return (at: number, now: number): string | undefined => {
    const distance = at - now;
    const size = Math.abs(distance);
    if (size >= relativeMs) return undefined;
    if (size < 10 * second) return relatives.format(0, 'second');
    const [name, length] = timeUnits.find(([, length]) => size >= length)!;
    return relatives.format(Math.trunc(distance / length), name);
  };
}

/** Returns a function that formats ranges. The year is included if the range does not end in the current year. */
export function ranges(short: Intl.DateTimeFormat, long: Intl.DateTimeFormat) {
  return (from: Instant, to: Instant, now: Instant): string => {
    const start = new Date(from);
    const end = new Date(to);
    const isThisYear = end.getUTCFullYear() === new Date(now).getUTCFullYear();
    return (isThisYear ? short : long).formatRange(start, end);
  };
}

/** Returns a formatter of ranges from a first to a last UTC day: `14 – 20 Nov`, in another year `14 – 20 Nov 2025`. */
export function dayRanges(locale: string | undefined) {
  const days = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
  return ranges(new Intl.DateTimeFormat(locale, days), new Intl.DateTimeFormat(locale, { ...days, year: 'numeric' }));
}
