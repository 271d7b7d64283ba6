import { type Day, differenceOf, intervalOf, pValueOf, rateOf, type Side, total } from './difference.ts';

/** Maximum error rate of one comparison as a whole. */
const alpha = 0.05;

/** What each side of a difference needs. Below that, the figures cannot separate it from chance. */
export const needed = {
  /** Days with checks on both sides: a whole week, because weekdays differ. */
  days: 7,
  users: 100,
  events: 5,
} as const;

/** What a variant still lacks. */
export interface Lack {
  readonly of: 'days' | 'users' | 'events';
  readonly variant: string;
  readonly has: number;
}

/** One variant, by day. All variants have the same days. */
export interface Variant extends Side {
  readonly variant: string;
}

/** How much higher the rate of a variant is than that of the base. */
export interface Difference {
  readonly estimate: number;
  /** All intervals of a comparison hold at the same time. */
  readonly interval: readonly [number, number];
  readonly p: number;
  readonly pAdjusted: number;
  /** Days with checks on both sides. */
  readonly days: number;
}

export interface Compared {
  readonly variant: string;
  readonly users: number;
  readonly checks: number;
  readonly events: number;
  /** Events per check; `null` without checks. */
  readonly rate: number | null;
  readonly interval: readonly [number, number] | null;
  /** `null` for the base, and if a variant lacks something. */
  readonly difference: Difference | null;
  readonly lack: Lack | null;
}

/** The default base: the variant with the most users, then with the most checks. */
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

/** Both sides on the days with checks on both. Users are assumed to be proportional to checks. */
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

/**
 * Adjusts p-values for multiple tests (S. Holm, "A simple sequentially rejective multiple test procedure", 1979). The
 * probability that any adjusted value is below α by chance is at most α, whatever their dependence.
 */
export function adjustByHolm(pValues: readonly number[]): number[] {
  const adjusted = new Array<number>(pValues.length);
  let last = 0;
  const ascending = [...pValues.entries()].sort(([, a], [, b]) => a - b);
  for (const [rank, [index, p]] of ascending.entries()) {
    last = Math.max(last, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = last;
  }
  return adjusted;
}
