import { criticalValue, twoSidedTail } from './student-t.ts';

/** What one side did on one day. */
export interface Day {
  readonly events: number;
  readonly checks: number;
}

/** One side of a comparison: the same days as the other, in the same order, and how many people were in them. */
export interface Side {
  readonly days: readonly Day[];
  readonly users: number;
}

/** A figure, and how far it may be off by chance. */
export interface Estimate {
  readonly value: number;
  readonly standardError: number;
  readonly degreesOfFreedom: number;
}

/** What one side did on all days. */
export function total(days: readonly Day[]): Day {
  return days.reduce((sum, day) => ({ events: sum.events + day.events, checks: sum.checks + day.checks }), {
    events: 0,
    checks: 0,
  });
}

/** Events a check, over all days. Needs two days with checks. */
export function rateOf({ days, users }: Side): Estimate {
  const terms = days
    .filter(({ checks }) => checks > 0)
    .map(({ events, checks }) => [events, checks] as const);
  return jackknife(terms, (rate) => varianceOfPeople(rate, users));
}

/**
 * By how much more of the checks lead to an event on one side than on the other. Each day is compared with itself, so neither good
 * days nor a split that changes from day to day count as a difference: the common risk difference of Mantel and Haenszel, with
 * the days as strata. Needs two days on which both sides have checks.
 */
export function differenceOf(one: Side, other: Side): Estimate {
  const terms = one.days.flatMap((day, index) => {
    const against = other.days[index]!;
    if (day.checks === 0 || against.checks === 0) return [];
    const all = day.checks + against.checks;
    const excess = day.events * against.checks - against.events * day.checks;
    return [[excess / all, (day.checks * against.checks) / all] as const];
  });
  const ofPeople = [one, other].reduce(
    (sum, side) => sum + varianceOfPeople(ratio(side.days), side.users),
    0,
  );
  return jackknife(terms, () => ofPeople);
}

/** The range that the true figure is in with a probability of 1 − `alpha`. */
export function intervalOf(
  { value, standardError, degreesOfFreedom }: Estimate,
  alpha: number,
): readonly [number, number] {
  const reach = standardError * criticalValue(alpha, degreesOfFreedom);
  return [value - reach, value + reach];
}

/** How probable a figure as far from 0 is, if the true one is 0. */
export function pValueOf({ value, standardError, degreesOfFreedom }: Estimate): number {
  if (standardError === 0) return value === 0 ? 1 : 0;
  return twoSidedTail(value / standardError, degreesOfFreedom);
}

/**
 * A ratio of sums, and its variance by leaving out one day after the other.
 * @param ofPeople variance that days do not show
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
  // Days that have most of the checks are as good as fewer days that are alike.
  const alike = below ** 2 / terms.reduce((sum, [, b]) => sum + b ** 2, 0);
  return { value, standardError: Math.sqrt(variance), degreesOfFreedom: Math.max(1, alike - 1) };
}

/** How many people stand for one independent observation: some of them send far more than others. */
const peoplePerObservation = 2;

/**
 * The variance that people bring who come back day after day: their habits are the same each day, so days do not show it. As if
 * each observation were one person who always or never leads to the event.
 */
function varianceOfPeople(rate: number, users: number): number {
  return ((rate <= 1 ? rate * (1 - rate) : rate) * peoplePerObservation) / users;
}

function ratio(days: readonly Day[]): number {
  const { events, checks } = total(days);
  return events / checks;
}
