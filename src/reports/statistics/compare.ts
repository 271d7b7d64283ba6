import {
  computeInterval,
  computePValue,
  type Day,
  estimateDifference,
  estimateRate,
  type Side,
  total,
} from './difference.ts';

/** Maximum error rate of one comparison as a whole. */
export const alpha = 0.05;

/** Minimum data of each side of a difference. With less data, a difference cannot be distinguished from chance. */
export const needed = {
  /** Number of days with checks on both sides. A whole week is required, because weekdays differ. */
  days: 7,
  users: 100,
  events: 5,
} as const;

/** The data that a variant still lacks. */
export interface Lack {
  readonly of: 'days' | 'users' | 'events';
  readonly variant: string;
  readonly has: number;
}

/** One variant, by day. All variants have the same days. */
export interface Variant extends Side {
  readonly variant: string;
}

/** The difference between the rate of a variant and the rate of the base. */
interface Difference {
  readonly estimate: number;
  /** With probability 1 − `alpha`, all intervals of a comparison contain their true differences. */
  readonly interval: readonly [number, number];
  readonly p: number;
  readonly pAdjusted: number;
  /** Days with checks on both sides. */
  readonly days: number;
}

export interface VariantComparison {
  readonly variant: string;
  readonly users: number;
  readonly checks: number;
  readonly events: number;
  /** Events per check; `null` without checks. */
  readonly rate: number | null;
  readonly interval: readonly [number, number] | null;
  /** Difference from the base; `null` for the base, and if a variant lacks data. */
  readonly difference: Difference | null;
  readonly lack: Lack | null;
}

/** Names that teams give to the variant without the tested change. */
const baseNames = ['control', 'off', 'disabled', 'false'];

/**
 * Returns the default base: a variant with one of these names, or else the first variant by name. The base does not
 * depend on counts, so it is the same in every range.
 */
export function usualBase(variants: readonly string[]): string | undefined {
  const rank = (name: string) =>
    (baseNames.indexOf(name.toLowerCase()) + baseNames.length + 1) % (baseNames.length + 1);
  const byName = (a: string, b: string) => rank(a) - rank(b) || (a < b ? -1 : 1);
  return variants.toSorted(byName)[0];
}

/**
 * Returns the days on which the base and all comparable variants have checks, as indices. Every difference covers these
 * days. A variant that would reduce them to less than a week is not comparable. If no variant is comparable, all days
 * are returned.
 */
export function commonDays(variants: readonly Variant[], base: string): readonly number[] {
  const against = variants.find(({ variant }) => variant === base);
  const all = (variants[0]?.days ?? []).map((_, index) => index);
  if (against === undefined) return all;
  const givenOn = ({ days }: Variant, among: readonly number[]) => among.filter((index) => days[index]!.checks > 0);
  const withBase = givenOn(against, all);
  const others = variants
    .filter((each) => each !== against && givenOn(each, withBase).length >= needed.days)
    .toSorted((a, b) => givenOn(b, withBase).length - givenOn(a, withBase).length);
  if (others.length === 0) return all;
  return others.reduce((common, each) => {
    const fewer = givenOn(each, common);
    return fewer.length >= needed.days ? fewer : common;
  }, withBase);
}

/** Computes the confidence interval of an estimate at the level 1 − `alpha`. */
type IntervalAt = typeof computeInterval;

/**
 * Compares each variant with the base, over the common days.
 * @param intervalAt computes the interval; the default is valid only if the result is first read at the planned end
 */
export function compare(
  variants: readonly Variant[],
  base: string,
  intervalAt: IntervalAt = computeInterval,
): VariantComparison[] {
  const days = commonDays(variants, base);
  const sides = variants.map((each) => cut(each, days));
  const against = sides.find(({ variant }) => variant === base);
  const lacks = sides.map((side) => (side === against || against === undefined ? undefined : findLack(side, against)));
  const estimates = sides.map((side, index) =>
    side === against || against === undefined || lacks[index] !== undefined
      ? undefined
      : estimateDifference(side, against),
  );
  const tested = estimates.filter((estimate) => estimate !== undefined);
  const pValues = tested.map(computePValue);
  const adjusted = adjustByHolm(pValues);
  return sides.map((each, index) => {
    const estimate = estimates[index];
    const rank = estimate === undefined ? -1 : tested.indexOf(estimate);
    const difference = estimate && {
      estimate: estimate.value,
      interval: intervalAt(estimate, alpha / tested.length),
      p: pValues[rank]!,
      pAdjusted: adjusted[rank]!,
      days: days.length,
    };
    return {
      ...describe(each, variants.length, intervalAt),
      difference: difference ?? null,
      lack: lacks[index] ?? null,
    };
  });
}

function describe(
  side: Variant,
  together: number,
  intervalAt: IntervalAt,
): Omit<VariantComparison, 'difference' | 'lack'> {
  const { variant, users, days } = side;
  const { events, checks } = total(days);
  const isEnough = users >= needed.users && events >= needed.events && given(days) >= needed.days;
  return {
    variant,
    users,
    checks,
    events,
    rate: checks === 0 ? null : events / checks,
    interval: isEnough ? withinReach(intervalAt(estimateRate(side), alpha / together), events <= checks) : null,
  };
}

/** Limits an interval: a rate is never below 0, and a share never above 1. */
function withinReach([low, high]: readonly [number, number], isShare: boolean): readonly [number, number] {
  return [Math.max(0, low), isShare ? Math.min(1, high) : high];
}

function given(days: readonly Day[]): number {
  return days.filter(({ checks }) => checks > 0).length;
}

/** Returns a variant reduced to some of its days. Users are assumed to be proportional to checks. */
function cut(side: Variant, indices: readonly number[]): Variant {
  if (indices.length === side.days.length) return side;
  const days = indices.map((index) => side.days[index]!);
  const all = total(side.days).checks;
  return { ...side, days, users: all === 0 ? side.users : (side.users * total(days).checks) / all };
}

function findLack(side: Variant, against: Variant): Lack | undefined {
  const { variant, days } = side;
  const both = days.filter(({ checks }, index) => checks > 0 && against.days[index]!.checks > 0).length;
  if (both < needed.days) return { of: 'days', variant, has: both };
  for (const { variant, users } of [side, against])
    if (users < needed.users) return { of: 'users', variant, has: Math.floor(users) };
  for (const { variant, days } of [side, against])
    if (total(days).events < needed.events) return { of: 'events', variant, has: total(days).events };
  return undefined;
}

/**
 * Adjusts p-values for multiple tests (S. Holm, "A simple sequentially rejective multiple test procedure", 1979). The
 * probability that chance puts any adjusted value below α is at most α, even if the tests are dependent.
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
