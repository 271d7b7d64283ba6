import { bucketAt, horizonsAt, type Retention } from '../store/retention.ts';

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
}

/**
 * When something that was reported for `time` is counted, all in Unix ms: at its own time, but what comes from the
 * future counts as now, and what is older than the minute buckets are kept counts in its hour or day.
 */
export function countedAt(time: number, now: number, retention: Retention): CountedAt {
  const at = time > now + aheadMs ? now : Math.max(0, time);
  const minute = Math.floor(at / 60_000);
  return { bucket: bucketAt(minute, horizonsAt(now, retention)), minute, at };
}
