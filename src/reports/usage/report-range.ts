import Type from 'typebox';
import { daysFromHours, isTimeZone, unknownZone, userDays } from '../../contract/calendar.ts';
import { Refusal } from '../../contract/errors.ts';
import { text } from '../../contract/shapes/fields.ts';
import { type QueryOf, timeParameter } from '../../http/query-reader.ts';
import type { Days, UserUnions } from '../../storage/aggregate/unique-users.ts';
import {
  ceilToBucket,
  floorToBucket,
  type Horizons,
  horizonsAt,
  minutesPerDay,
  type Retention,
} from '../../storage/lmdb/blocks.ts';
import { environmentOrdinal } from '../../storage/lmdb/sketches.ts';
import type { Reading } from '../../storage/lmdb/snapshot.ts';

export const stepMinutes = { minute: 1, hour: 60, day: minutesPerDay } as const;
export type Step = keyof typeof stepMinutes;

/** The range of a report. `from` and `to` are minutes since the epoch, `from` included, `to` excluded. */
export interface ReportRange {
  readonly from: number;
  readonly to: number;
  readonly step: Step;
  /** The current UTC day, in days since the epoch. If absent, all days are complete. */
  readonly today?: number;
  /** The days of a time zone. */
  readonly zoned?: ZonedRange;
}

/** A range in a time zone. */
interface ZonedRange {
  readonly timeZone: string;
  /** Starts of the days, minutes since the epoch. Present only if the steps are days of the time zone. */
  readonly starts?: readonly number[];
}

export const range = {
  from: Type.Optional(timeParameter({ component: 'From', description: 'Start of the range, inclusive.' })),
  to: Type.Optional(timeParameter({ component: 'To', description: 'End of the range, exclusive.' })),
};

export const timeZone = {
  timeZone: Type.Optional(
    text(
      'Time zone of the IANA database, such as `Europe/Berlin`. Steps of a day are days of this zone if the range has at most 35 days, hours are kept, and the days begin with an hour of UTC. Otherwise they are UTC days. Default: UTC.',
    ),
  ),
};

export const reportRange = {
  ...range,
  ...timeZone,
  step: Type.Union([Type.Literal('minute'), Type.Literal('hour'), Type.Literal('day')], {
    component: 'Step',
    description: 'Width of a bucket of the series.',
    default: 'hour',
  }),
};

const maxBuckets = 10_000;
const minuteMs = 60_000;

/** Unlimited number of buckets, for exports. An export is never in memory as a whole. */
export const anyLength = Number.POSITIVE_INFINITY;

/**
 * Reads the range of a report. It ends now if `to` is omitted, and is a day long if `from` is omitted.
 * @param now Unix ms
 * @param most maximum number of buckets
 * @throws {Refusal} `invalid_query`
 */
export function readReportRange(
  query: QueryOf<typeof reportRange>,
  now: number,
  retention: Retention,
  most = maxBuckets,
): ReportRange {
  const { step } = query;
  const to = Math.ceil((query.to ?? now + 1) / 60_000);
  const from = Math.floor((query.from ?? (to - stepMinutes.day) * 60_000) / 60_000);
  if (query.to === undefined && from >= to) throw new Refusal('invalid_query', futureRange);
  if (from >= to) throw new Refusal('invalid_query', emptyRange);
  if ((to - from) / stepMinutes[step] > most) {
    throw new Refusal('invalid_query', `from and to are more than ${most} steps apart: use a wider step`);
  }
  // The range consists of whole buckets, so that a roll-up does not change the report.
  const horizons = horizonsAt(now, retention);
  const today = Math.floor(now / minuteMs / minutesPerDay);
  const whole = { from: floorToBucket(from, horizons), to: ceilToBucket(to, horizons), step, today };
  return query.timeZone === undefined ? whole : { ...whole, zoned: createZonedRange(query.timeZone, whole, horizons) };
}

/** @throws {Refusal} `invalid_query` */
function createZonedRange(timeZone: string, { from, to, step }: ReportRange, { hours }: Horizons): ZonedRange {
  if (!isTimeZone(timeZone)) {
    throw new Refusal('invalid_query', `timeZone: ${unknownZone(timeZone.slice(0, 100))}`);
  }
  const first = from * minuteMs;
  const end = to * minuteMs;
  const starts = step === 'day' ? daysFromHours(timeZone, first, end, hours * minuteMs) : undefined;
  return { timeZone, ...(starts && { starts: starts.map((start) => start / minuteMs) }) };
}

/** Returns the complete UTC days of a range, and the rest (today, if in range). Together, they are at least one day. */
export function splitUserDays({ from, to, zoned, today = Number.POSITIVE_INFINITY }: ReportRange) {
  const touched = userDays(from * minuteMs, to * minuteMs, zoned?.timeZone);
  const end = Math.max(touched.from + 1, Math.min(touched.to, today + 1));
  const whole: Days = { from: touched.from, to: Math.max(touched.from, Math.min(end, today)) };
  const rest: Days = { from: whole.to, to: end };
  return { whole, rest };
}

/**
 * Returns the days whose users a report counts: the complete days of the range. Includes today if the complete days
 * have no users, as on the first day of an environment.
 */
export function* findUserDays(unions: UserUnions, environment: number, range: ReportRange): Reading<Days> {
  const { whole, rest } = splitUserDays(range);
  const users = (yield* unions.of(environment, whole, [environmentOrdinal])).get(environmentOrdinal)!;
  return users.estimate() > 0 ? whole : { from: whole.from, to: rest.to };
}

/** Returns the time zone of the buckets of a report, if one was requested. */
export function shownZone({ step, zoned }: ReportRange): { timeZone?: string } {
  if (zoned === undefined) return {};
  return { timeZone: step === 'day' && zoned.starts === undefined ? 'UTC' : zoned.timeZone };
}

/** Returns the width of the stored buckets to read for a range. Days of a time zone are added up from hours. */
export function chooseGrain({ step, zoned }: ReportRange): Step {
  return zoned?.starts === undefined ? step : 'hour';
}

export const emptyRange = 'from must be before to';
const futureRange = 'from must be in the past, unless a later to is given';

/**
 * Returns the start of the bucket of a range that contains a minute, Unix seconds. A minute before the first day is in
 * the bucket of that day.
 */
export function bucketIn({ step, zoned }: ReportRange, minute: number): number {
  const { starts } = zoned ?? {};
  return starts === undefined ? bucketStart(minute, step) : starts[lastAtOrBefore(starts, minute)]! * 60;
}

/** Returns the index of the last number that is not above a value, or 0. @param sorted numbers in ascending order */
export function lastAtOrBefore(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Returns the start of the bucket that contains a minute, Unix seconds. */
export function bucketStart(minute: number, step: Step): number {
  return Math.floor(minute / stepMinutes[step]) * stepMinutes[step] * 60;
}

/** Formats a minute since the epoch as RFC 3339 UTC. */
export function minuteText(minute: number): string {
  return new Date(minute * 60_000).toISOString();
}

/** Maximum number of points in a report. Points are in memory until the report is sent. */
export const maxPoints = 200_000;

/** The remaining number of points of a report. */
export class PointBudget {
  #left: number;

  constructor(left = maxPoints) {
    this.#left = left;
  }

  /** @throws {Refusal} `too_many_points` */
  take(): void {
    this.#left -= 1;
    if (this.#left >= 0) return;
    throw new Refusal('too_many_points', overPoints);
  }
}

export const overPoints = `The report would have more than ${maxPoints} points: use a wider step or a shorter range, or request one feature or metric`;

/** Returns the first and the last day, as dates. */
export function daysText({ from, to }: Days): { readonly from: string; readonly to: string } {
  const text = (each: number) => new Date(each * minutesPerDay * minuteMs).toISOString().slice(0, 10);
  return { from: text(from), to: text(to - 1) };
}
