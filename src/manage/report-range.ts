import { ApiError } from '../errors.ts';
import { ceilToBucket, floorToBucket, horizonsAt, type Retention } from '../store/retention.ts';
import { readTime } from './query-time.ts';

/** Widths of a report's buckets, in minutes. */
const steps = { minute: 1, hour: 60, day: 1440 } as const;
export type Step = keyof typeof steps;

/** What a report covers. `from` and `to` are minutes since the epoch, `from` included, `to` not. */
export interface ReportRange {
  readonly from: number;
  readonly to: number;
  readonly step: Step;
}

/** Most buckets that one series of a report may have. */
const maxBuckets = 10_000;

/**
 * Reads `from`, `to` and `step` of a report's query. Without `to` it ends now, without `from` it is a day long, without
 * `step` it has hours.
 * @param now Unix ms
 * @throws {ApiError} `invalid_query`
 */
export function readReportRange(
  query: ReadonlyMap<string, string>,
  now: number,
  retention: Retention,
): ReportRange {
  const step = query.get('step') ?? 'hour';
  if (!isStep(step)) throw new ApiError('invalid_query', 'step must be minute, hour or day');
  const to = Math.ceil((readTime(query, 'to') ?? now + 1) / 60_000);
  const from = Math.floor((readTime(query, 'from') ?? (to - steps.day) * 60_000) / 60_000);
  if (from >= to) throw new ApiError('invalid_query', 'from must be before to');
  if ((to - from) / steps[step] > maxBuckets) {
    throw new ApiError(
      'invalid_query',
      `from and to are more than ${maxBuckets} steps apart: take a wider step`,
    );
  }
  // Of what is old enough to be rolled up, a range has whole buckets: the same ones before and after the roll-up.
  const horizons = horizonsAt(now, retention);
  return { from: floorToBucket(from, horizons), to: ceilToBucket(to, horizons), step };
}

/** The start of the bucket of a report that a minute falls in, Unix seconds. */
export function bucketStart(minute: number, step: Step): number {
  return Math.floor(minute / steps[step]) * steps[step] * 60;
}

/** A minute since the epoch as RFC 3339 UTC. */
export function minuteText(minute: number): string {
  return new Date(minute * 60_000).toISOString();
}

function isStep(text: string): text is Step {
  return Object.hasOwn(steps, text);
}
