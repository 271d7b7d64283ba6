import { bucketAt, horizonsAt, oldestWholeDay, type Retention } from '../storage/lmdb/blocks.ts';

/** Tolerance for sender clocks that are ahead, ms. */
export const aheadMs = 5 * 60_000;

export interface CountedAt {
  /** Time bucket: see `bucketAt`. */
  readonly bucket: number;
  /** Minutes since the epoch. */
  readonly minute: number;
  /** Unix ms. */
  readonly at: number;
  /** True if `at` differs from the reported time. */
  readonly moved: boolean;
}

/**
 * Returns the time at which data for `time` is counted. All times are Unix ms. Data counts in its own minute. Data
 * older than the retention of minutes counts in its hour or day. Future times count in the current minute, because a
 * chart that ends now would not show a later minute. Up to five minutes ahead, `at` remains the sent time, so that
 * values stay in order. Times before the retention count in the oldest day that is kept for another 24 hours, because
 * an older day would soon be deleted.
 */
export function countedAt(time: number, now: number, retention: Retention): CountedAt {
  const horizons = horizonsAt(now, retention);
  const at = timeWithin(time, now, horizons.days * 60_000, retention);
  const minute = Math.floor(Math.min(at, now) / 60_000);
  return { bucket: bucketAt(minute, horizons), minute, at, moved: at !== time };
}

function timeWithin(time: number, now: number, oldest: number, retention: Retention): number {
  if (time > now + aheadMs) return now;
  return time < oldest ? oldestWholeDay(now, retention) * 60_000 : Math.max(0, time);
}
