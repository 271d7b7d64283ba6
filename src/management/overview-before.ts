import { dayAt, monthsBefore, startOfDay } from '../contract/calendar.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { floorToBucket, type Horizons } from '../storage/lmdb/retention.ts';
import { grainOf, type ReportRange, stepMinutes } from './report-range.ts';

/** A span of minutes since the epoch, `from` included, `to` excluded. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Two spans of equal length that consist of whole buckets. */
export interface Comparison {
  /** The compared part of the range. */
  readonly against: Span;
  /** The same part of the previous range. */
  readonly before: Span;
}

/** What a range is compared with. */
export type Compare = 'previous' | 'day' | 'week' | 'month' | 'year' | 'none';

const minuteMs = 60_000;
const day = minutesPerDay;

/** Days from the range to the one to compare with. A year is 52 weeks, so that weekdays are compared with themselves. */
const daysBack = { day: 1, week: 7, year: 364 } as const;

/** Finds what a range is compared with. */
export function comparisonOf(
  range: ReportRange,
  wanted: Compare | undefined,
  now: number,
  horizons: Horizons,
): { comparison: Comparison | undefined; daysBack?: number } {
  if (wanted === 'none') return { comparison: undefined, daysBack: 0 };
  const zone = range.zoned?.timeZone ?? 'UTC';
  const from = range.from * minuteMs;
  const first = dayAt(zone, from);
  const days = backBy(range, wanted, first);
  if (days === undefined) return { comparison: compare(range, now, horizons) };
  const time = (from - startOfDay(zone, first)) / minuteMs;
  const start = startOfDay(zone, first - days) / minuteMs + time;
  // Where only days are kept, these are UTC days: the day with the same date is compared.
  const kept = start < horizons.hours && time === 0 ? (first - days) * day : start;
  return { comparison: compare(range, now, horizons, Math.max(0, kept)), daysBack: days };
}

/** The days from the beginning of the range to compare with to that of the range; `undefined` if it is not a matter of days. */
function backBy({ zoned }: ReportRange, wanted: Compare | undefined, first: number): number | undefined {
  if (wanted === 'month') return first - monthsBefore(first, 1);
  if (wanted === 'day' || wanted === 'week' || wanted === 'year') return daysBack[wanted];
  return zoned?.starts?.length;
}

/**
 * The starts of the buckets before that correspond to those of a range, minutes since the epoch. They end where the range begins.
 * The last one is the end.
 */
export function bucketsBefore(
  range: ReportRange,
  { before }: Comparison,
  length: number,
  horizons: Horizons,
): readonly number[] {
  const { step, zoned, from } = range;
  const width = stepMinutes[step];
  const bounds = Array.from({ length: length + 1 }, (_, index) => before.from + index * width);
  if (zoned?.starts !== undefined) {
    const isKept = before.from >= horizons.hours;
    const zone = isKept ? zoned.timeZone : 'UTC';
    const first = dayAt(zone, before.from * minuteMs);
    for (let index = 0; index <= length; index += 1)
      bounds[index] = startOfDay(zone, first + index) / minuteMs;
  }
  return bounds.filter((bound) => bound <= from);
}

/** The widest cells that fit into these buckets. */
export function grainBefore(range: ReportRange, { before }: Comparison, horizons: Horizons) {
  return before.from < horizons.hours ? range.step : grainOf(range);
}

/** Maximum number of minutes to omit so that no edge of a window lies within a bucket. */
const mostLeftOut = 2 * day;

/**
 * Finds the longest comparable parts. Of a range that is not over, only the past part counts: at noon, today until noon is
 * compared with yesterday until noon. A part ends at the end of a bucket, so the last minutes are omitted where old data is
 * kept by hours or days.
 * @param start of the range to compare with; by default that of the range before, which has the same length
 */
export function compare(
  { from, to }: Span,
  now: number,
  horizons: Horizons,
  start?: number,
): Comparison | undefined {
  const past = Math.min(to, Math.ceil((now + 1) / minuteMs));
  const isWhole = (minute: number) => floorToBucket(minute, horizons) === minute;
  const isOver = past === to && start === undefined;
  const usual = from - floorToBucket(Math.max(0, start ?? from + from - to), horizons);
  const end = Math.min(past, from + usual);
  for (let until = end; until > from && until >= end - mostLeftOut; until -= 1) {
    const shift = isOver ? until - from : usual;
    if (from - shift < horizons.days) continue;
    if (![until, from - shift, until - shift].every(isWhole)) continue;
    return { against: { from, to: until }, before: { from: from - shift, to: until - shift } };
  }
  return undefined;
}
