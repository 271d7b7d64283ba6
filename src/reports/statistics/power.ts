import { varianceOfPeople } from './difference.ts';
import { criticalValue } from './distributions.ts';

/** The traffic that a difference is to be found in. */
export interface Traffic {
  /** Events per check. */
  readonly rate: number;
  /** Checks of a day. */
  readonly checks: number;
  /** Distinct users in so many days: `[days, users]`, ascending. */
  readonly users: readonly (readonly [days: number, users: number])[];
  /** Share of the two compared variants. */
  readonly shares: readonly [number, number];
  /** Variance between people; by default that of shares. */
  readonly spread?: number | undefined;
}

/** Probability of finding the difference. */
const power = 0.8;

/**
 * The smallest difference between two variants that is found after some days with a probability of 80 %, at a level of `alpha`.
 * The variance is that of `differenceOf`, on days that differ by chance only.
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

/** Users grow more slowly than days, as people return. Between and beyond the known numbers, by a power law. */
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

/** The number of days, at least a week, after which a difference is detectable; `undefined` if not within a year. */
export function daysUntil(traffic: Traffic, difference: number, alpha: number): number | undefined {
  for (let days = 7; days <= 366; days += 1) if (detectable(traffic, days, alpha) <= difference) return days;
  return undefined;
}
