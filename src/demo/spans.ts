import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { bucketAt, ceilToBucket, type Horizons } from '../storage/lmdb/retention.ts';

/** A part of a day that the service counts as one bucket: an hour, or a minute of the last two days. */
export interface Span {
  /** Its start, in minutes since the epoch. */
  readonly minute: number;
  readonly minutes: number;
  /** See `bucketOf`. */
  readonly bucket: number;
}

/** The parts of a day that are over before `until` (minutes since the epoch). */
export function spansOf(day: number, until: number, horizons: Horizons): Span[] {
  const spans: Span[] = [];
  const end = Math.min(until, (day + 1) * minutesPerDay);
  for (let minute = day * minutesPerDay; minute < end; ) {
    const next = Math.max(minute + 1, Math.min(end, ceilToBucket(minute + 1, horizons)));
    spans.push({ minute, minutes: next - minute, bucket: bucketAt(minute, horizons) });
    minute = next;
  }
  return spans;
}
