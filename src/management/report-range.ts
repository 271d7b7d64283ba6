import Type from 'typebox';
import { ApiError } from '../contract/errors.ts';
import { type QueryOf, timeParameter } from '../http/query-reader.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { ceilToBucket, floorToBucket, horizonsAt, type Retention } from '../storage/lmdb/retention.ts';

/** Minutes of a step. */
export const stepMinutes = { minute: 1, hour: 60, day: minutesPerDay } as const;
export type Step = keyof typeof stepMinutes;

/** The range of a report. `from` and `to` are minutes since the epoch, `from` included, `to` excluded. */
export interface ReportRange {
  readonly from: number;
  readonly to: number;
  readonly step: Step;
}

export const range = {
  from: Type.Optional(timeParameter({ component: 'From', description: 'The beginning, included.' })),
  to: Type.Optional(timeParameter({ component: 'To', description: 'The end, not included.' })),
};

export const reportRange = {
  ...range,
  step: Type.Union([Type.Literal('minute'), Type.Literal('hour'), Type.Literal('day')], {
    component: 'Step',
    description: 'The width of a bucket of the series.',
    default: 'hour',
  }),
};

const maxBuckets = 10_000;

/** The limit of buckets for exports, which are never in memory as a whole. */
export const anyLength = Number.POSITIVE_INFINITY;

/**
 * The range of a report. Without `to` it ends now; without `from` it is a day long.
 * @param now Unix ms
 * @param most maximum number of buckets
 * @throws {ApiError} `invalid_query`
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
  if (from >= to) throw new ApiError('invalid_query', emptyRange);
  if ((to - from) / stepMinutes[step] > most) {
    throw new ApiError('invalid_query', `from and to are more than ${most} steps apart: take a wider step`);
  }
  // The range consists of whole buckets, so that a roll-up does not change the report.
  const horizons = horizonsAt(now, retention);
  return { from: floorToBucket(from, horizons), to: ceilToBucket(to, horizons), step };
}

export const emptyRange = 'from must be before to';

/** The start of the bucket that contains a minute, Unix seconds. */
export function bucketStart(minute: number, step: Step): number {
  return Math.floor(minute / stepMinutes[step]) * stepMinutes[step] * 60;
}

/** A minute since the epoch as RFC 3339 UTC. */
export function minuteText(minute: number): string {
  return new Date(minute * 60_000).toISOString();
}

/** Maximum number of points in a report. They are in memory until it is sent. */
export const maxPoints = 200_000;

/** The remaining points of a report. */
export class PointBudget {
  #left: number;

  constructor(left = maxPoints) {
    this.#left = left;
  }

  /** @throws {ApiError} `too_many_points` */
  take(): void {
    this.#left -= 1;
    if (this.#left >= 0) return;
    throw new ApiError('too_many_points', overPoints);
  }
}

export const overPoints = `The report would have more than ${maxPoints} points: take a wider step or a shorter range, or ask for one feature or metric`;
