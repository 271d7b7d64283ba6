import Type from 'typebox';
import type { QueryOf } from '../http/query-reader.ts';
import type { Days } from '../storage/aggregate/unique-users.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { floorToBucket, type Horizons, horizonsAt, type Retention } from '../storage/lmdb/retention.ts';
import {
  bucketStart,
  type ReportRange,
  range,
  readReportRange,
  type Step,
  stepMinutes,
} from './report-range.ts';

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

export interface OverviewRange {
  readonly range: ReportRange;
  /** `undefined` if the previous range is not kept. */
  readonly comparison: Comparison | undefined;
}

export const overviewRange = {
  ...range,
  step: Type.Optional(
    Type.Union([Type.Literal('minute'), Type.Literal('hour'), Type.Literal('day')], {
      component: 'OverviewStep',
      description:
        'The width of the buckets. Default: a minute for up to six hours, an hour for up to eight days, else a day.',
    }),
  ),
};

const [hour, day] = [60, minutesPerDay];
const minuteMs = 60_000;

/**
 * The range of an overview. Without `to` it ends now; without `from` it is seven days long.
 * @param now Unix ms
 * @throws {ApiError} `invalid_query`
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
  return { range: read, comparison: compare(read, now, horizonsAt(now, retention)) };
}

function stepFor(minutes: number): Step {
  if (minutes <= 6 * hour) return 'minute';
  return minutes <= 8 * day ? 'hour' : 'day';
}

/** Maximum number of minutes to omit so that no edge of a window lies within a bucket. */
const mostLeftOut = 2 * day;

/**
 * Finds the longest comparable parts. Of a range that is not over, only the past part counts: at noon, today until noon is
 * compared with yesterday until noon. A part ends at the end of a bucket, so the last minutes are omitted where old data is
 * kept by hours or days.
 */
export function compare({ from, to }: Span, now: number, horizons: Horizons): Comparison | undefined {
  const end = Math.min(to, Math.ceil((now + 1) / minuteMs));
  const isWhole = (minute: number) => floorToBucket(minute, horizons) === minute;
  const isOver = end === to;
  const usual = from - floorToBucket(Math.max(0, from + from - to), horizons);
  for (let until = end; until > from && until >= end - mostLeftOut; until -= 1) {
    const shift = isOver ? until - from : usual;
    if (from - shift < horizons.days) continue;
    if (![until, from - shift, until - shift].every(isWhole)) continue;
    return { against: { from, to: until }, before: { from: from - shift, to: until - shift } };
  }
  return undefined;
}

/** The buckets of an overview. Times are Unix seconds. */
export interface Grid {
  readonly start: number;
  readonly width: number;
  readonly length: number;
  readonly spark: { readonly start: number; readonly width: number; readonly length: number };
}

/** Maximum number of points in a sparkline. */
const maxSpark = 30;

/** The buckets that a range touches, and those of its sparklines, which are multiples of the former. */
export function gridOf({ from, to, step }: ReportRange): Grid {
  const start = bucketStart(from, step);
  const width = stepMinutes[step] * 60;
  const length = Math.ceil((to * 60 - start) / width);
  const each = Math.ceil(length / maxSpark);
  return { start, width, length, spark: { start, width: each * width, length: Math.ceil(length / each) } };
}

/** The whole hours that a range and the previous one touch, as hours since the epoch. */
export function hoursAround({ range, comparison }: OverviewRange): Span {
  const from = Math.min(range.from, comparison?.before.from ?? range.from);
  return { from: Math.floor(from / hour), to: Math.ceil(range.to / hour) };
}

/** The UTC days that a range touches, without future days unless there are no others. @param now Unix ms */
export function daysOf({ from: first, to: end }: Span, now: number): Days {
  const today = Math.floor(now / minuteMs / day);
  const from = Math.floor(first / day);
  return { from, to: Math.max(from + 1, Math.min(Math.ceil(end / day), today + 1)) };
}

/** The first and the last day, as dates. */
export function daysText({ from, to }: Days): { readonly from: string; readonly to: string } {
  const text = (each: number) => new Date(each * day * minuteMs).toISOString().slice(0, 10);
  return { from: text(from), to: text(to - 1) };
}
