import { varianceOfPeople } from './difference.ts';
import { criticalValue } from './distributions.ts';

/** The traffic of an experiment. */
export interface Traffic {
  /** Events per check. */
  readonly rate: number;
  /** Number of checks per day. */
  readonly checks: number;
  /** Number of distinct users by number of days: `[days, users]`, ascending. */
  readonly users: readonly (readonly [days: number, users: number])[];
  /** Shares of the two compared variants. */
  readonly shares: readonly [number, number];
  /** Variance between people; the default is the variance of a share. */
  readonly spread?: number | undefined;
}

/** Probability of finding the difference. */
const power = 0.8;

/**
 * Returns the smallest difference between two variants that is detectable after some days. The probability of finding
 * it is 80 %, at a level of `alpha`. Assumes the variance of `estimateDifference`, and days that differ only by chance.
 */
export function detectable(traffic: Traffic, days: number, alpha: number): number {
  const { rate, checks, shares, spread } = traffic;
  const users = usersIn(traffic.users, days);
  const variance = shares.reduce((sum, share) => {
    const ofChecks =
      checks === 0 ? Number.POSITIVE_INFINITY : (spread ?? computeVariance(rate)) / (checks * days * share);
    return sum + ofChecks + varianceOfPeople(rate, users * share, spread);
  }, 0);
  const freedom = Math.max(1, days - 1);
  return (criticalValue(alpha, freedom) + criticalValue(2 * (1 - power), freedom)) * Math.sqrt(variance);
}

/**
 * Estimates the users in a number of days. Users grow more slowly than days, because people return. The users follow a
 * power law between the known numbers of days, and beyond them.
 */
export function usersIn(known: Traffic['users'], days: number): number {
  const above = known.findIndex(([each]) => each >= days);
  if (above !== -1 && known[above]![0] === days) return known[above]![1];
  const at = above === -1 ? known.length - 1 : Math.max(1, above);
  const first = known[at - 1];
  const second = known[at];
  if (second === undefined) return 0;
  if (first === undefined || first[1] === 0 || second[1] === 0) return (second[1] * days) / second[0];
  const slope = Math.log(second[1] / first[1]) / Math.log(second[0] / first[0]);
  return second[1] * (days / second[0]) ** Math.min(1, Math.max(0, slope));
}

function computeVariance(rate: number): number {
  return rate <= 1 ? rate * (1 - rate) : rate;
}

/** Returns the number of days needed to detect a difference, at least 7; `undefined` if more than a year. */
export function daysUntil(traffic: Traffic, difference: number, alpha: number): number | undefined {
  for (let days = 7; days <= 366; days += 1) if (detectable(traffic, days, alpha) <= difference) return days;
  return undefined;
}
