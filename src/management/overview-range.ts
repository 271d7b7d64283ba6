import Type from 'typebox';
import type { QueryOf } from '../http/query-reader.ts';
import type { Days } from '../storage/aggregate/unique-users.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { horizonsAt, type Retention } from '../storage/lmdb/retention.ts';
import { type Comparison, comparisonOf, type Span } from './overview-before.ts';
import {
  bucketIn,
  lastAtOrBefore,
  type ReportRange,
  range,
  readReportRange,
  type Step,
  stepMinutes,
  timeZone,
  userDaysOf,
} from './report-range.ts';

export interface OverviewRange {
  readonly range: ReportRange;
  /** `undefined` if the range to compare with is not kept, or none is wanted. */
  readonly comparison: Comparison | undefined;
  /** The days from the range to compare with to the range; `undefined` for the days just before, 0 for none. */
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
          'The range to compare with: the one that ends where the range begins (`previous`), or the same span of the day before, the week before, the month before, or 52 weeks before (`year`), by the dates of the time zone. Default: `previous`.',
      },
    ),
  ),
  step: Type.Optional(
    Type.Union([Type.Literal('minute'), Type.Literal('hour'), Type.Literal('day')], {
      component: 'OverviewStep',
      description:
        'The width of the buckets. Default: a minute for up to six hours, an hour for up to eight days, else a day.',
    }),
  ),
};

const hour = 60;
const day = minutesPerDay;
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
  return { range: read, ...comparisonOf(read, query.compare, now, horizonsAt(now, retention)) };
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
  /** The start of each, if they are days of a time zone, which differ in width. */
  readonly starts?: readonly number[];
  /** Number of buckets in a point of a sparkline. */
  readonly each: number;
  readonly spark: { readonly start: number; readonly width: number; readonly length: number };
}

/** The widths of points, in hours, that divide a day. */
const dayParts = [1, 2, 3, 4, 6, 8, 12, 24];

/** Maximum number of points in a sparkline. */
const maxSpark = 30;

/** The buckets that a range touches, and those of its sparklines, which are multiples of the former. */
export function gridOf(range: ReportRange): Grid {
  const { from, to, step, zoned } = range;
  const starts = zoned?.starts?.map((minute) => minute * 60);
  const start = bucketIn(range, from);
  const width = stepMinutes[step] * 60;
  const length = starts?.length ?? Math.ceil((to * 60 - start) / width);
  const least = Math.ceil(length / maxSpark);
  // A day has a whole number of points, so that a client can draw sums of 24 hours.
  const each = step === 'hour' ? (dayParts.find((hours) => hours >= least) ?? least) : least;
  const spark = { start, width: each * width, length: Math.ceil(length / each) };
  return { start, width, length, ...(starts && { starts }), each, spark };
}

/** The bucket of a time, Unix seconds. A time before the first is in that. */
export function bucketOf({ start, width, starts }: Grid, time: number): number {
  if (starts !== undefined) return lastAtOrBefore(starts, time);
  return Math.floor(Math.max(0, time - start) / width);
}

/** The whole hours that a range and the previous one touch, as hours since the epoch. */
export function hoursAround({ range, comparison }: OverviewRange): Span {
  const from = Math.min(range.from, comparison?.before.from ?? range.from);
  return { from: Math.floor(from / hour), to: Math.ceil(range.to / hour) };
}

/** The UTC days whose users a range counts, without future days unless there are no others. @param now Unix ms */
export function daysOf(range: ReportRange, now: number): Days {
  const today = Math.floor(now / minuteMs / day);
  const { from, to } = userDaysOf(range);
  return { from, to: Math.max(from + 1, Math.min(to, today + 1)) };
}

/** The first and the last day, as dates. */
export function daysText({ from, to }: Days): { readonly from: string; readonly to: string } {
  const text = (each: number) => new Date(each * day * minuteMs).toISOString().slice(0, 10);
  return { from: text(from), to: text(to - 1) };
}
