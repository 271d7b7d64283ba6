import { bucketOf, bucketWidth, floorTo, minutesPerDay } from './blocks.ts';

/** Retention of the buckets of each width, ms. */
export interface Retention {
  readonly minutesMs: number;
  readonly hoursMs: number;
  readonly daysMs: number;
}

/**
 * The start of each width's range, in minutes since the epoch. Data older than `minutes` is in hour buckets, data older
 * than `hours` in day buckets, and data older than `days` is deleted. Each horizon is the start of a bucket of the next
 * width, so that a bucket is always rolled up completely.
 */
export interface Horizons {
  readonly minutes: number;
  readonly hours: number;
  readonly days: number;
}

const hour = 60;
const day = minutesPerDay;

/** The horizons at `now` (Unix ms). */
export function horizonsAt(now: number, { minutesMs, hoursMs, daysMs }: Retention): Horizons {
  const floor = (ms: number, width: number) => Math.max(0, floorTo((now - ms) / 60_000, width));
  return { minutes: floor(minutesMs, hour), hours: floor(hoursMs, day), days: floor(daysMs, day) };
}

/** The minute (since the epoch) at which the oldest day begins that is kept for at least another 24 hours from `now` (Unix ms). */
export function oldestWholeDay(now: number, { daysMs }: Retention): number {
  return Math.max(0, Math.ceil((now - daysMs) / 60_000 / day) * day);
}

export function bucketAt(minute: number, horizons: Horizons): number {
  if (minute >= horizons.minutes) return bucketOf(bucketWidth.minute, minute);
  if (minute >= horizons.hours) return bucketOf(bucketWidth.hour, floorTo(minute, hour));
  return bucketOf(bucketWidth.day, floorTo(minute, day));
}

/** The start of the bucket that holds `minute`, after all due roll-ups. */
export function floorToBucket(minute: number, horizons: Horizons): number {
  if (minute >= horizons.minutes) return minute;
  return floorTo(minute, minute >= horizons.hours ? hour : day);
}

/** The first start of a bucket at or after `minute`, after all due roll-ups. */
export function ceilToBucket(minute: number, horizons: Horizons): number {
  const floor = floorToBucket(minute, horizons);
  if (floor === minute) return minute;
  return floor + (minute >= horizons.hours ? hour : day);
}
