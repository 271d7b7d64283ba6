import Type from 'typebox';
import { dayAt, monthsBefore, startOfDay } from '../../contract/calendar.ts';
import type { QueryOf } from '../../http/query-reader.ts';
import { floorToBucket, type Horizons, horizonsAt, minutesPerDay, type Retention } from '../../storage/lmdb/blocks.ts';
import {
  bucketIn,
  chooseGrain,
  lastAtOrBefore,
  type ReportRange,
  range,
  readReportRange,
  type Step,
  stepMinutes,
  timeZone,
} from '../usage/report-range.ts';

export interface OverviewRange {
  readonly range: ReportRange;
  /** `undefined` if no comparison is requested, or the data of the previous range is not kept. */
  readonly comparison: Comparison | undefined;
  /**
   * Number of days from the previous range to the range. `undefined` selects the time just before the range; 0 means no
   * comparison.
   */
  readonly daysBack?: number | undefined;
}

export const overviewRange = {
  ...range,
  ...timeZone,
  compare: Type.Optional(
    Type.Union(
      (['previous', 'day', 'week', 'month', 'year', 'none'] as const).map((each) => Type.Literal(each)),
      {
        component: 'Compare',
        description:
          'Range to compare with: the range that ends where this range begins (`previous`), or the same span of the day before, the week before, the month before, or 52 weeks before (`year`), by the dates of the time zone. Default: `previous`.',
      },
    ),
  ),
  step: Type.Optional(
    Type.Union([Type.Literal('minute'), Type.Literal('hour'), Type.Literal('day')], {
      component: 'OverviewStep',
      description:
        'Width of the buckets. Default: a minute for up to six hours, an hour for up to eight days, else a day.',
    }),
  ),
};

const hour = 60;
const day = minutesPerDay;
const minuteMs = 60_000;

/**
 * Reads the range of an overview. It ends now if `to` is omitted, and is seven days long if `from` is omitted.
 * @param now Unix ms
 * @throws {Refusal} `invalid_query`
 */
export function readOverviewRange(
  query: QueryOf<typeof overviewRange>,
  now: number,
  retention: Retention,
): OverviewRange {
  const to = query.to ?? now + 1;
  const from = query.from ?? Math.ceil(to / minuteMs) * minuteMs - 7 * day * minuteMs;
  const step = query.step ?? stepFor((to - from) / minuteMs);
  const read = readReportRange({ ...query, from: Math.max(0, from), step }, now, retention);
  return { range: read, ...findComparison(read, query.compare, now, horizonsAt(now, retention)) };
}

function stepFor(minutes: number): Step {
  if (minutes <= 6 * hour) return 'minute';
  return minutes <= 8 * day ? 'hour' : 'day';
}

/** The buckets of an overview. Times are Unix seconds. */
export interface Grid {
  readonly start: number;
  readonly width: number;
  readonly length: number;
  /** The start of each bucket, if the buckets are days of a time zone, which differ in width. */
  readonly starts?: readonly number[];
  /** Number of buckets in a point of a sparkline. */
  readonly each: number;
  readonly spark: { readonly start: number; readonly width: number; readonly length: number };
}

/** Durations of points that divide a day, in hours. */
const dayDivisors = [1, 2, 3, 4, 6, 8, 12, 24];

/** Maximum number of points in a sparkline. */
const maxSpark = 30;

/** Returns the buckets that a range touches, and the points of its sparklines. A point consists of whole buckets. */
export function createGrid(range: ReportRange): Grid {
  const { from, to, step, zoned } = range;
  const starts = zoned?.starts?.map((minute) => minute * 60);
  const start = bucketIn(range, from);
  const width = stepMinutes[step] * 60;
  const length = starts?.length ?? Math.ceil((to * 60 - start) / width);
  const least = Math.ceil(length / maxSpark);
  // A day has a whole number of points, so that a client can draw sums of 24 hours.
  const each = step === 'hour' ? (dayDivisors.find((hours) => hours >= least) ?? least) : least;
  const spark = { start, width: each * width, length: Math.ceil(length / each) };
  return { start, width, length, ...(starts && { starts }), each, spark };
}

/** Returns the bucket of a time, Unix seconds. A time before the first bucket is in the first bucket. */
export function findBucket({ start, width, starts }: Grid, time: number): number {
  if (starts !== undefined) return lastAtOrBefore(starts, time);
  return Math.floor(Math.max(0, time - start) / width);
}

/** Returns the hours that a range and the previous range touch, as hours since the epoch. */
export function hoursAround({ range, comparison }: OverviewRange): Span {
  const from = Math.min(range.from, comparison?.before.from ?? range.from);
  return { from: Math.floor(from / hour), to: Math.ceil(range.to / hour) };
}

/** A span of minutes since the epoch, `from` included, `to` excluded. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Two spans of equal length that consist of whole buckets. */
export interface Comparison {
  /** The part of the range that is compared. */
  readonly against: Span;
  /** The corresponding part of the previous range. */
  readonly before: Span;
}

type Compare = 'previous' | 'day' | 'week' | 'month' | 'year' | 'none';

/** Days from the previous range to the range, by comparison. A year is 52 weeks, so that weekdays match. */
const daysBack = { day: 1, week: 7, year: 364 } as const;

function findComparison(
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
  // If only UTC days are kept, the range is compared with the UTC day of the same date.
  const kept = start < horizons.hours && time === 0 ? (first - days) * day : start;
  return { comparison: compare(range, now, horizons, Math.max(0, kept)), daysBack: days };
}

/** Returns the days between the starts of the two ranges; `undefined` if this is not a whole number of days. */
function backBy({ zoned }: ReportRange, wanted: Compare | undefined, first: number): number | undefined {
  if (wanted === 'month') return first - monthsBefore(first, 1);
  if (wanted === 'day' || wanted === 'week' || wanted === 'year') return daysBack[wanted];
  return zoned?.starts?.length;
}

/**
 * Returns the starts of the buckets of the previous range, minutes since the epoch. The last value is the end of the
 * last bucket. The previous range ends where the range begins.
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
    for (let index = 0; index <= length; index += 1) bounds[index] = startOfDay(zone, first + index) / minuteMs;
  }
  return bounds.filter((bound) => bound <= from);
}

/** Returns the width of the widest stored buckets that fit into the buckets of the previous range. */
export function grainBefore(range: ReportRange, { before }: Comparison, horizons: Horizons) {
  return before.from < horizons.hours ? range.step : chooseGrain(range);
}

/** Maximum number of minutes that are omitted so that the compared spans consist of whole buckets. */
const mostLeftOut = 2 * day;

/**
 * Finds the longest comparable spans. If the range is not over, only its past part is compared. At noon, for example,
 * the first half of today is compared with the first half of yesterday. A span ends at the end of a bucket. If old data
 * is kept by hours or days, the last minutes are therefore omitted.
 * @param start start of the previous range; by default, the previous range ends where the range begins
 */
export function compare({ from, to }: Span, now: number, horizons: Horizons, start?: number): Comparison | undefined {
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
