import { type Day, differenceOf, intervalOf, pValueOf, rateOf, type Side, total } from './difference.ts';
import { adjustByHolm } from './holm.ts';

/** How often to be wrong at most, over all that is said of one comparison. */
const alpha = 0.05;

/** What each side of a difference needs. Below that, chance is too large to be told from the figures. */
export const needed = {
  /** Days on which both sides were given: a whole week, since weekdays differ, and enough of them to see how much days differ. */
  days: 7,
  users: 100,
  events: 5,
} as const;

/** What is still missing for a difference. */
export interface Lack {
  readonly of: 'days' | 'users' | 'events';
  readonly variant: string;
  readonly has: number;
}

/** One variant, by day; all have the same days. */
export interface Variant extends Side {
  readonly variant: string;
}

/** By how much a variant's rate is above that of the base. */
export interface Difference {
  readonly estimate: number;
  /** All intervals of a comparison hold together. */
  readonly interval: readonly [number, number];
  readonly p: number;
  readonly pAdjusted: number;
  /** Days on which both were given. */
  readonly days: number;
}

export interface Compared {
  readonly variant: string;
  readonly users: number;
  readonly checks: number;
  readonly events: number;
  /** Events a check; `null` without checks. */
  readonly rate: number | null;
  readonly interval: readonly [number, number] | null;
  /** `null` for the base, and where something is missing. */
  readonly difference: Difference | null;
  readonly lack: Lack | null;
}

/** The variant that the others are compared with unless one is chosen: the one with most users, then with most checks. */
export function usualBase(variants: readonly Variant[]): string | undefined {
  const order = variants.map((each) => ({ ...each, ...total(each.days) }));
  order.sort((a, b) => b.users - a.users || b.checks - a.checks || (a.variant < b.variant ? -1 : 1));
  return order[0]?.variant;
}

/** Compares each variant with the base. */
export function compare(variants: readonly Variant[], base: string): Compared[] {
  const against = variants.find(({ variant }) => variant === base);
  const pairs = variants.map((each) =>
    each === against || against === undefined ? undefined : commonDays(each, against),
  );
  const lacks = pairs.map((pair) => pair && lackOf(pair));
  const estimates = pairs.map((pair, index) =>
    pair === undefined || lacks[index] !== undefined ? undefined : differenceOf(...pair),
  );
  const tested = estimates.filter((estimate) => estimate !== undefined);
  const pValues = tested.map(pValueOf);
  const adjusted = adjustByHolm(pValues);
  return variants.map((each, index) => {
    const estimate = estimates[index];
    const rank = estimate === undefined ? -1 : tested.indexOf(estimate);
    const difference = estimate && {
      estimate: estimate.value,
      interval: intervalOf(estimate, alpha / tested.length),
      p: pValues[rank]!,
      pAdjusted: adjusted[rank]!,
      days: pairs[index]![0].days.length,
    };
    return {
      ...describe(each, variants.length),
      difference: difference ?? null,
      lack: lacks[index] ?? null,
    };
  });
}

function describe(side: Variant, together: number): Omit<Compared, 'difference' | 'lack'> {
  const { variant, users, days } = side;
  const { events, checks } = total(days);
  const isEnough = users >= needed.users && events >= needed.events && given(days) >= needed.days;
  return {
    variant,
    users,
    checks,
    events,
    rate: checks === 0 ? null : events / checks,
    interval: isEnough ? withinReach(intervalOf(rateOf(side), alpha / together), events <= checks) : null,
  };
}

/** A rate is never below 0, and a share never above 1. */
function withinReach([low, high]: readonly [number, number], isShare: boolean): readonly [number, number] {
  return [Math.max(0, low), isShare ? Math.min(1, high) : high];
}

function given(days: readonly Day[]): number {
  return days.filter(({ checks }) => checks > 0).length;
}

/** Both sides on the days on which both were given. Users of some days are taken to be as many as their part of the checks. */
function commonDays(one: Variant, other: Variant): [Variant, Variant] {
  const isCommon = (_: Day, index: number) => one.days[index]!.checks > 0 && other.days[index]!.checks > 0;
  const cut = (side: Variant): Variant => {
    const days = side.days.filter(isCommon);
    const part = days.length === 0 ? 0 : total(days).checks / total(side.days).checks;
    return { ...side, days, users: side.users * part };
  };
  return [cut(one), cut(other)];
}

function lackOf(pair: readonly [Variant, Variant]): Lack | undefined {
  const [{ variant, days }] = pair;
  if (days.length < needed.days) return { of: 'days', variant, has: days.length };
  for (const { variant, users } of pair)
    if (users < needed.users) return { of: 'users', variant, has: Math.floor(users) };
  for (const { variant, days } of pair)
    if (total(days).events < needed.events) return { of: 'events', variant, has: total(days).events };
  return undefined;
}
