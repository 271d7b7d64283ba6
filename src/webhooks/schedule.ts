import type { RandomBytes } from '../accounts/secrets.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The delays after each failed attempt. After the last one, about a day after the first, the delivery is given up. */
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

/** Maximum delay that a receiver can request. */
const longestMs = 8 * hour;

/** Up to a fifth more or less, so that deliveries that failed together do not all retry together. */
const jitter = 0.2;

/**
 * The delay after a failed attempt, ms; `undefined` if the delivery is given up.
 * @param failed number of failed attempts
 * @param asked the delay that the receiver requests, ms
 */
export function delayAfter(failed: number, asked: number, randomBytes: RandomBytes): number | undefined {
  const delay = delays[failed - 1];
  if (delay === undefined) return undefined;
  const [high = 0, low = 0] = randomBytes(2);
  const chance = (high * 256 + low) / 65_536;
  const jittered = delay * (1 - jitter + 2 * jitter * chance);
  return Math.round(Math.max(jittered, Math.min(asked, longestMs)));
}
