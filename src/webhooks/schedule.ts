import type { RandomBytes } from '../accounts/secrets.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long to wait after each failed attempt. After the last one the delivery is given up, about a day after the first. */
export const delays: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  8 * hour,
  8 * hour,
];

/** No answer makes us wait longer. */
const longestMs = 8 * hour;

/** A fifth more or less, so that what has failed together does not come back together. */
const jitter = 0.2;

/**
 * How long to wait after a failed attempt, ms; `undefined` when the delivery is to be given up.
 * @param failed how many attempts have failed
 * @param asked how long the receiver asks to be left alone, ms
 */
export function delayAfter(failed: number, asked: number, randomBytes: RandomBytes): number | undefined {
  const delay = delays[failed - 1];
  if (delay === undefined) return undefined;
  const [high = 0, low = 0] = randomBytes(2);
  const chance = (high * 256 + low) / 65_536;
  const jittered = delay * (1 - jitter + 2 * jitter * chance);
  return Math.round(Math.max(jittered, Math.min(asked, longestMs)));
}
