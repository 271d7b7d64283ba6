import { bucketOf, bucketWidth } from './blocks.ts';

/** How long buckets of each width are kept, ms. */
export interface Retention {
  readonly minutesMs: number;
  readonly hoursMs: number;
  readonly daysMs: number;
}

/**
 * From when on there are buckets of each width, in minutes since the epoch. What is older than `minutes` is in hours, what
 * is older than `hours` in days, and what is older than `days` nowhere. Each is the start of a bucket of the next width,
 * so a bucket is rolled up whole.
 */
export interface Horizons {
  readonly minutes: number;
  readonly hours: number;
  readonly days: number;
}

const hour = 60;
const day = 1440;

/** The horizons at `now` (Unix ms). */
export function horizonsAt(now: number, { minutesMs, hoursMs, daysMs }: Retention): Horizons {
  const floor = (ms: number, width: number) => Math.max(0, Math.floor((now - ms) / 60_000 / width) * width);
  return { minutes: floor(minutesMs, hour), hours: floor(hoursMs, day), days: floor(daysMs, day) };
}

/** The bucket that a minute (since the epoch) is kept in. */
export function bucketAt(minute: number, horizons: Horizons): number {
  if (minute >= horizons.minutes) return bucketOf(bucketWidth.minute, minute);
  if (minute >= horizons.hours) return bucketOf(bucketWidth.hour, floorTo(minute, hour));
  return bucketOf(bucketWidth.day, floorTo(minute, day));
}

/** A minute at or before `minute` where a bucket begins, whatever may have been rolled up by now. */
export function floorToBucket(minute: number, horizons: Horizons): number {
  if (minute >= horizons.minutes) return minute;
  return floorTo(minute, minute >= horizons.hours ? hour : day);
}

/** A minute at or after `minute` where a bucket begins, whatever may have been rolled up by now. */
export function ceilToBucket(minute: number, horizons: Horizons): number {
  const floor = floorToBucket(minute, horizons);
  if (floor === minute) return minute;
  return floor + (minute >= horizons.hours ? hour : day);
}

function floorTo(minute: number, width: number): number {
  return Math.floor(minute / width) * width;
}
