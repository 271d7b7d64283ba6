import type { Comparison } from '../../contract/shapes/comparison.ts';
import { sketchError } from '../../storage/aggregate/hyperloglog.ts';
import { countUniqueUsers, type Days, type UserUnions } from '../../storage/aggregate/unique-users.ts';
import type { Environment } from '../../storage/lmdb/records.ts';
import type { Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { commonDays, compare, usualBase, type Variant } from '../statistics/compare.ts';
import { checkUsers } from '../statistics/split.ts';
import { daysText } from '../usage/report-range.ts';
import { judgeComparison } from './comparison-text.ts';
import { type DailyCounts, readDays } from './experiment-counts.ts';

export interface ComparisonTask {
  readonly environment: Environment;
  readonly feature: string;
  /** Complete days in the past. */
  readonly days: Days;
  readonly event: 'used' | 'viewed';
  /** The variant to compare with; `undefined` for the default. */
  readonly base: string | undefined;
  /** The base of the feature's experiment in this environment, if any. */
  readonly planned?: string | undefined;
  /** The declared weights. */
  readonly split: readonly (readonly [variant: string, weight: number])[] | null;
}

/** The checks and events of a variant by day. */
interface EventCounts extends Pick<DailyCounts, 'ordinal' | 'variant'> {
  readonly days: readonly { readonly events: number; readonly checks: number }[];
}

interface VariantsRead {
  readonly variants: readonly Variant[];
  /** Number of distinct users of all variants. */
  readonly users: number;
}

/** Compares the variants of a feature over whole UTC days. */
export function* comparisonReport(store: UsageTables, unions: UserUnions, task: ComparisonTask): Reading<Comparison> {
  const { environment, feature, event, split } = task;
  const read = yield* readDays(store, environment.number, { feature, days: task.days });
  const counts = read.map(({ days, ...series }) => ({
    ...series,
    days: days.map((day) => ({ checks: day.checks, events: day[event] })),
  }));
  const base = chooseBase(counts, task);
  const [days, indices] = findPeriod(counts, base, task.days);
  const { variants, users } = yield* readUsers(unions, environment, counts, { days, indices });
  const compared = base === undefined ? [] : compare(variants, base);
  return {
    environment: environment.name,
    feature,
    ...(indices.length === 0 ? { from: null, to: null } : daysText(days)),
    days: indices.length,
    event,
    base: base ?? null,
    variants: compared.map(({ lack: _, difference, interval, users, ...rest }) => ({
      ...rest,
      users: Math.round(users),
      interval: interval && [...interval],
      difference: difference && { ...difference, interval: [...difference.interval] },
    })),
    ...judgeComparison(compared, base ?? null, indices.length, event),
    sampleRatio: split && sampleRatio(variants, split),
    severalVariants: severalVariants(variants, users),
  };
}

/** Returns the requested base if the feature ever had this variant. Otherwise, returns the planned or usual base. */
function chooseBase(counts: readonly EventCounts[], task: ComparisonTask): string | undefined {
  const given = counts.filter(({ days }) => days.some(({ checks }) => checks > 0)).map(({ variant }) => variant);
  if (given.length === 0) return undefined;
  if (counts.some(({ variant }) => variant === task.base)) return task.base;
  return given.find((variant) => variant === task.planned) ?? usualBase(given);
}

/** Returns the indices of the compared days, and the period from the first to the last of them. */
function findPeriod(
  counts: readonly EventCounts[],
  base: string | undefined,
  { from, to }: Days,
): readonly [days: Days, indices: readonly number[]] {
  const indices = commonDays(
    counts.map((each) => ({ ...each, users: 0 })),
    base ?? '',
  );
  const first = indices[0];
  const last = indices.at(-1);
  if (first === undefined || last === undefined)
    return [{ from, to }, Array.from({ length: to - from }, (_, index) => index)];
  return [{ from: from + first, to: from + last + 1 }, indices];
}

/** Adds each variant's users in the period. Sorts variants by their number of users, highest first. */
function* readUsers(
  unions: UserUnions,
  environment: Environment,
  counts: readonly EventCounts[],
  { days, indices }: { readonly days: Days; readonly indices: readonly number[] },
): Reading<VariantsRead> {
  const ordinals = counts.map(({ ordinal }) => ordinal);
  const users = yield* countUniqueUsers(unions, environment.number, days, [ordinals]);
  const variants = counts.map(({ ordinal, variant, days }) => ({
    variant,
    days: indices.map((index) => days[index]!),
    users: users.series.get(ordinal) ?? 0,
  }));
  const given = variants.filter(({ users, days }) => users > 0 || days.some(({ checks }) => checks > 0));
  return { variants: given.toSorted((a, b) => b.users - a.users), users: users.groups[0] ?? 0 };
}

function sampleRatio(
  variants: readonly Variant[],
  split: NonNullable<ComparisonTask['split']>,
): Comparison['sampleRatio'] {
  const users = new Map(variants.map(({ variant, users }) => [variant, users]));
  const sides = split.map(([variant, weight]) => ({ variant, weight, users: users.get(variant) ?? 0 }));
  const { intended: expected, actual: observed, p, state } = checkUsers(sides, sketchError);
  if (sides.length < 2 || p === null || observed === null) return null;
  return { expected, observed, p, mismatch: state === 'off' };
}

/**
 * Maximum share of users with several variants that can be an estimation error. Each of the two sketches has an error
 * of up to 2 %.
 */
const severalAtMost = 0.05;

/**
 * Computes the share of users with several variants, from the users of each variant and the users of all variants
 * together.
 */
function severalVariants(variants: readonly Variant[], users: number): Comparison['severalVariants'] {
  if (users === 0 || variants.length < 2) return null;
  const sum = variants.reduce((sum, variant) => sum + variant.users, 0);
  const share = Math.min(1, Math.max(0, (sum - users) / users));
  return { share, warn: share > severalAtMost };
}
