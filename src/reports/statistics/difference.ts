import { criticalValue, twoSidedTail } from './distributions.ts';

/** The counts of one side on one day. */
export interface Day {
  readonly events: number;
  readonly checks: number;
}

/** One side of a comparison. Both sides have the same days, in the same order. */
export interface Side {
  readonly days: readonly Day[];
  readonly users: number;
  /** Variance between the values of people who send one observation each. The default is the variance of a share. */
  readonly spread?: number | undefined;
}

/** An estimate with its uncertainty. */
export interface Estimate {
  readonly value: number;
  readonly standardError: number;
  readonly degreesOfFreedom: number;
}

/** Returns the counts of all days together. */
export function total(days: readonly Day[]): Day {
  return days.reduce((sum, day) => ({ events: sum.events + day.events, checks: sum.checks + day.checks }), {
    events: 0,
    checks: 0,
  });
}

/** Estimates the events per check, over all days. Requires two days with checks. */
export function estimateRate({ days, users, spread }: Side): Estimate {
  const terms = days.filter(({ checks }) => checks > 0).map(({ events, checks }) => [events, checks] as const);
  return jackknife(terms, (rate) => varianceOfPeople(rate, users, spread));
}

/**
 * Estimates the difference between the rates of two sides: the common risk difference of Mantel and Haenszel, with the
 * days as strata. Differences between days, and a split that changes from day to day, do not affect the estimate.
 * Requires two days on which both sides have checks.
 */
export function estimateDifference(one: Side, other: Side): Estimate {
  const terms = one.days.flatMap((day, index) => {
    const against = other.days[index]!;
    if (day.checks === 0 || against.checks === 0) return [];
    const all = day.checks + against.checks;
    const excess = day.events * against.checks - against.events * day.checks;
    return [[excess / all, (day.checks * against.checks) / all] as const];
  });
  const ofPeople = [one, other].reduce(
    (sum, side) => sum + varianceOfPeople(ratio(side.days), side.users, side.spread),
    0,
  );
  return jackknife(terms, () => ofPeople);
}

/** Computes the confidence interval at the level 1 − `alpha`. */
export function computeInterval(
  { value, standardError, degreesOfFreedom }: Estimate,
  alpha: number,
): readonly [number, number] {
  const reach = standardError * criticalValue(alpha, degreesOfFreedom);
  return [value - reach, value + reach];
}

/** Computes the p-value: the probability of an estimate at least this far from 0 if the true value is 0. */
export function computePValue({ value, standardError, degreesOfFreedom }: Estimate): number {
  if (standardError === 0) return value === 0 ? 1 : 0;
  return twoSidedTail(value / standardError, degreesOfFreedom);
}

/**
 * Estimates a ratio of sums, with its variance by the jackknife over days.
 * @param ofPeople variance between people, which does not appear between days
 */
function jackknife(
  terms: readonly (readonly [above: number, below: number])[],
  ofPeople: (value: number) => number,
): Estimate {
  const above = terms.reduce((sum, [a]) => sum + a, 0);
  const below = terms.reduce((sum, [, b]) => sum + b, 0);
  const value = above / below;
  const squares = terms.reduce((sum, [a, b]) => sum + ((above - a) / (below - b) - value) ** 2, 0);
  const variance = (squares * (terms.length - 1)) / terms.length + ofPeople(value);
  // If some days have most of the checks, the effective number of days is lower.
  const alike = below ** 2 / terms.reduce((sum, [, b]) => sum + b ** 2, 0);
  return { value, standardError: Math.sqrt(variance), degreesOfFreedom: Math.max(1, alike - 1) };
}

/** Number of people per independent observation: above 1, because some people send far more than others. */
const peoplePerObservation = 2;

/**
 * Returns the variance between people. People who return have the same habits every day, so a comparison of days does
 * not show this variance. Each observation counts as one person who always or never causes the event.
 */
export function varianceOfPeople(rate: number, users: number, spread?: number): number {
  return ((spread ?? (rate <= 1 ? rate * (1 - rate) : rate)) * peoplePerObservation) / users;
}

function ratio(days: readonly Day[]): number {
  const { events, checks } = total(days);
  return events / checks;
}
