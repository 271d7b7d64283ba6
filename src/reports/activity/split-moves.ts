import { readCounts } from '../../storage/aggregate/read-counts.ts';
import { minutesPerDay } from '../../storage/lmdb/blocks.ts';
import type { Reading, Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type Names, readNames } from '../overview/overview-counts.ts';
import { type LevelShift, levelShifts } from '../statistics/level-shifts.ts';

/** Number of days that are compared. */
const comparedDays = 100;

/** Maximum number of series read. Features of any further series are not compared. */
const maxSeries = 20_000;
/** Maximum number of compared variants of a feature: the variants with the most checks. */
const maxVariants = 6;
/** Minimum number of checks on a compared day. */
const minChecks = 100;

/** Minimum change of a share. */
const leastShare = 0.1;
/** Factor by which the variance exceeds the binomial variance, because consecutive checks of one sender are alike. */
const designEffect = 4;
/** Minimum change of the logarithm of the daily checks: twice as many checks, or half as many. */
const leastTraffic = Math.log(2);
/** Minimum variance of daily traffic: a standard deviation of 5 %. */
const trafficNoise = 0.05 ** 2;

/** A lasting change of the shares of a feature's variants. */
export interface SplitMove {
  readonly feature: string;
  /** Start of the day, minutes since the epoch. */
  readonly day: number;
  /** Start of the hour of the move, or start of its day if the counts by hour are gone. */
  readonly minute: number;
  /** Shares from 0 to 1, by variant, the largest change of share first. */
  readonly shares: readonly { readonly variant: string; readonly from: number; readonly to: number }[];
}

/** A lasting change of the number of checks in a whole environment. */
export interface TrafficMove {
  readonly minute: number;
  /** Checks per day before the move. */
  readonly from: number;
  readonly to: number;
}

export interface Moves {
  readonly splits: readonly SplitMove[];
  readonly traffic: readonly TrafficMove[];
}

/** Finds lasting changes (moves) of splits and traffic in an environment, by complete UTC days. @param now Unix ms */
export function* movesIn(store: UsageTables, environment: number, now: number, at: Snapshot): Reading<Moves> {
  const names = yield* readNames(store, environment, at);
  const today = Math.floor(now / 86_400_000);
  const daily = yield* readDaily(store, environment, names, today - comparedDays, at);
  const splits: SplitMove[] = [];
  let left = stride;
  for (const [feature, rows] of daily.features) {
    for (const move of findMoves(names.features[feature]!, rows, daily.from))
      splits.push({ ...move, minute: yield* findMinute(store, environment, rows, move, at) });
    left = left === 0 ? stride : left - 1;
    if (left === 0) yield;
  }
  return { splits, traffic: trafficMoves(daily) };
}

/** Number of features between two pauses. */
const stride = 32;

/** The daily checks of a variant. */
interface Row {
  readonly ordinal: number;
  readonly variant: string;
  readonly checks: Float64Array;
}

interface Daily {
  /** The first day, in days since the epoch. */
  readonly from: number;
  /** The variants of each feature, by feature number. */
  readonly features: ReadonlyMap<number, readonly Row[]>;
  /** The checks of all features. */
  readonly total: Float64Array;
}

function* readDaily(
  store: UsageTables,
  environment: number,
  { featureByOrdinal, variantByOrdinal }: Names,
  from: number,
  at: Snapshot,
): Reading<Daily> {
  const rows: (Row | undefined)[] = [];
  const features = new Map<number, Row[]>();
  const total = new Float64Array(comparedDays);
  let left = maxSeries;
  variantByOrdinal.forEach((variant, ordinal) => {
    const feature = featureByOrdinal[ordinal] ?? -1;
    if (variant === undefined || feature < 0 || left === 0) return;
    left -= 1;
    const row = { ordinal, variant, checks: new Float64Array(comparedDays) };
    rows[ordinal] = row;
    const known = features.get(feature);
    if (known === undefined) features.set(feature, [row]);
    else known.push(row);
  });
  const range = { from: from * minutesPerDay, to: (from + comparedDays) * minutesPerDay };
  yield* readCounts(store, environment, { ...range, grain: 'day' }, at, ({ minute, size, ordinals, checks }) => {
    const day = Math.floor(minute / minutesPerDay) - from;
    for (let index = 0; index < size; index += 1) {
      const row = rows[ordinals[index]!];
      if (row !== undefined) row.checks[day]! += checks[index]!;
      total[day]! += checks[index]!;
    }
  });
  return { from, features, total };
}

function findMoves(feature: string, rows: readonly Row[], from: number): SplitMove[] {
  if (rows.length < 2) return [];
  const sums = new Float64Array(comparedDays);
  for (const { checks } of rows) for (let day = 0; day < comparedDays; day += 1) sums[day]! += checks[day]!;
  const compared = mostChecked(rows);
  const levels = computeShares(compared, sums);
  return levelShifts({ ...levels, least: leastShare }).map((shift) => ({
    feature,
    day: (from + shift.day) * minutesPerDay,
    minute: (from + shift.day) * minutesPerDay,
    shares: movedShares(compared, shift),
  }));
}

/** Finds the hour of a move from the hourly counts of its day. */
function* findMinute(
  store: UsageTables,
  environment: number,
  rows: readonly Row[],
  { day, shares: [moved] }: SplitMove,
  at: Snapshot,
): Reading<number> {
  const hours = Array.from({ length: 24 }, () => ({ part: 0, sum: 0 }));
  const variants = new Map(rows.map(({ ordinal, variant }) => [ordinal, variant]));
  const wanted = { from: day, to: day + minutesPerDay, grain: 'hour', only: [...variants.keys()] } as const;
  yield* readCounts(store, environment, wanted, at, ({ minute, size, ordinals, checks }) => {
    const hour = hours[Math.floor((minute - day) / 60)]!;
    for (let index = 0; index < size; index += 1) {
      const variant = variants.get(ordinals[index]!);
      if (variant === undefined) continue;
      hour.sum += checks[index]!;
      if (variant === moved!.variant) hour.part += checks[index]!;
    }
  });
  return day + 60 * hourOfMove(hours, moved!.from, moved!.to);
}

/**
 * Finds the hour of a move by the method of least squares: the hour from which the shares fit the new level better than
 * the old level. Returns 0 if the counts by hour are gone, because only one sum is left for the day.
 */
export function hourOfMove(
  hours: readonly { readonly part: number; readonly sum: number }[],
  from: number,
  to: number,
): number {
  if (hours.filter(({ sum }) => sum > 0).length < 2) return 0;
  let best = 0;
  let least = 0;
  let cost = 0;
  for (const [hour, { part, sum }] of hours.entries()) {
    if (cost < least) {
      best = hour;
      least = cost;
    }
    if (sum > 0) cost += sum * ((part / sum - from) ** 2 - (part / sum - to) ** 2);
  }
  return best;
}

function mostChecked(rows: readonly Row[]): readonly Row[] {
  if (rows.length <= maxVariants) return rows;
  const sum = ({ checks }: Row) => checks.reduce((all, each) => all + each, 0);
  return rows.toSorted((one, other) => sum(other) - sum(one)).slice(0, maxVariants);
}

/** Computes the daily shares of variants, and the variance that chance alone would cause in these shares. */
export function computeShares(rows: readonly Pick<Row, 'checks'>[], sums: Float64Array) {
  const of = (checks: Float64Array, pick: (share: number, sum: number) => number) =>
    sums.map((sum, day) => (sum < minChecks ? Number.NaN : pick(checks[day]! / sum, sum)));
  return {
    values: rows.map(({ checks }) => of(checks, (share) => share)),
    noise: rows.map(({ checks }) => of(checks, (share, sum) => (designEffect * share * (1 - share)) / sum)),
  };
}

function movedShares(rows: readonly Row[], { from, to }: LevelShift): SplitMove['shares'] {
  return rows
    .map(({ variant }, index) => ({ variant, from: from[index]!, to: to[index]! }))
    .sort((one, other) => Math.abs(other.to - other.from) - Math.abs(one.to - one.from));
}

function trafficMoves({ from, total }: Daily): TrafficMove[] {
  const first = total.findIndex((checks) => checks > 0);
  // The first day can be incomplete.
  const values = total.map((checks, day) => (first < 0 || day <= first ? Number.NaN : Math.log(Math.max(checks, 1))));
  const noise = total.map((checks) => trafficNoise + 1 / Math.max(checks, 1));
  return levelShifts({ values: [values], noise: [noise], least: leastTraffic }).map((shift) => ({
    minute: (from + shift.day) * minutesPerDay,
    from: Math.exp(shift.from[0]!),
    to: Math.exp(shift.to[0]!),
  }));
}
