import type { Variant } from '../../../src/reports/statistics/compare.ts';
import type { Day } from '../../../src/reports/statistics/difference.ts';
import type { Draws } from './draws.ts';

/** A simulated experiment. */
export interface Experiment {
  readonly days: number;
  /** Number of people of each variant. */
  readonly people: readonly number[];
  /** Events per check of each variant. */
  readonly rates: readonly number[];
  /** Correlation of a person's checks: 0 if they are independent, 1 if a person always or never causes an event. */
  readonly alike: number;
  /** Standard deviation of the logarithm of people's activity. */
  readonly spread: number;
  /** Probability that a person is active on a day. */
  readonly comes: number;
  /** Standard deviation of the logit of the rate between days. */
  readonly dayEffect: number;
  /** True for variants that people get gradually. Other variants have all of their people from the first day. */
  readonly rollout?: readonly boolean[];
}

const checksADay = 4;

/** Runs an experiment once, and returns the counts of its flag. */
export function run(experiment: Experiment, draws: Draws): SimulatedVariant[] {
  const effects = Array.from({ length: experiment.days }, () => experiment.dayEffect * draws.normal());
  return experiment.people.map((people, index) => {
    const days = effects.map(() => ({ events: 0, checks: 0 }));
    const arrivals = days.map(() => 0);
    for (let person = 0; person < people; person++) {
      const day = addPerson(experiment, index, effects, days, draws);
      if (day !== undefined) arrivals[day]! += 1;
    }
    return { variant: `v${index}`, days, users: sum(arrivals), arrivals };
  });
}

export interface SimulatedVariant extends Variant {
  /** Number of people whose first check was on each day. */
  readonly arrivals: readonly number[];
}

/** Returns the counts of a variant after some days. */
export function after({ days, arrivals, ...rest }: SimulatedVariant, count: number): Variant {
  return { ...rest, days: days.slice(0, count), users: sum(arrivals.slice(0, count)) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Adds the checks of a person. @returns the day of the first check, if any */
function addPerson(
  { days: length, rates, alike, spread, comes, rollout }: Experiment,
  variant: number,
  effects: readonly number[],
  days: { -readonly [Field in keyof Day]: Day[Field] }[],
  draws: Draws,
): number | undefined {
  const rate = rates[variant]!;
  const habit = alike === 0 ? rate : draws.beta((rate * (1 - alike)) / alike, ((1 - rate) * (1 - alike)) / alike);
  const activity = checksADay * Math.exp(spread * draws.normal() - spread ** 2 / 2);
  const first = rollout?.[variant] ? Math.floor(draws.uniform() * length) : 0;
  let came: number | undefined;
  for (let day = first; day < length; day++) {
    const checks = draws.uniform() < comes ? draws.poisson(activity) : 0;
    if (checks === 0) continue;
    came ??= day;
    days[day]!.checks += checks;
    days[day]!.events += draws.binomial(checks, shifted(habit, effects[day]!));
  }
  return came;
}

function shifted(probability: number, effect: number): number {
  const odds = (probability / (1 - probability)) * Math.exp(effect);
  return Number.isFinite(odds) ? odds / (1 + odds) : 1;
}
