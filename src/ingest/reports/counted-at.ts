import { bucketAt, horizonsAt, oldestWholeDay, type Retention } from '../../storage/lmdb/retention.ts';

/** Senders' clocks may be ahead of ours by this much. */
const aheadMs = 5 * 60_000;

/** When something reported is counted. */
export interface CountedAt {
  /** The bucket of time: see `bucketOf`. */
  readonly bucket: number;
  /** Minutes since the epoch. */
  readonly minute: number;
  /** Unix ms. */
  readonly at: number;
  /** Whether that is another time than the reported one. */
  readonly moved: boolean;
}

/**
 * When something that was reported for `time` is counted, all in Unix ms: at its own time, in its hour or day when that is
 * older than minutes are kept. What comes from the future counts as now. What is older than all that is kept counts in the
 * oldest day that is kept for another 24 hours, because it would be deleted within a minute.
 */
export function countedAt(time: number, now: number, retention: Retention): CountedAt {
  const horizons = horizonsAt(now, retention);
  const at = timeWithin(time, now, horizons.days * 60_000, retention);
  const minute = Math.floor(at / 60_000);
  return { bucket: bucketAt(minute, horizons), minute, at, moved: at !== time };
}

function timeWithin(time: number, now: number, oldest: number, retention: Retention): number {
  if (time > now + aheadMs) return now;
  return time < oldest ? oldestWholeDay(now, retention) * 60_000 : Math.max(0, time);
}
