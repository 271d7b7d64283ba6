import { readCounts } from '../../storage/aggregate/read-counts.ts';
import { countUniqueUsers, type Days, type UserUnions } from '../../storage/aggregate/unique-users.ts';
import { minutesPerDay } from '../../storage/lmdb/blocks.ts';
import { featureItself, type SeriesName } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { Variant } from '../statistics/compare.ts';
import { PointBudget } from '../usage/report-range.ts';
import { pickSeries } from '../usage/sights.ts';
import { sumUp } from '../usage/sum-up.ts';

interface DayOfMetric {
  sum: number;
  /** Number of observations. */
  count: number;
}

/** The counts of a variant, by day. */
export interface VariantDays {
  readonly variant: string;
  readonly users: number;
  readonly days: readonly { checks: number; used: number; viewed: number }[];
  readonly metrics: ReadonlyMap<string, readonly DayOfMetric[]>;
  /** Names of metrics that have a unit, so that their values are amounts. The other metrics count events. */
  readonly amounts: readonly string[];
}

/** The counts to read. `metrics` are names of counters. */
interface CountsOf extends Pick<VariantDays, 'amounts'> {
  readonly feature: string;
  readonly days: Days;
  readonly metrics: readonly string[];
}

export interface ExperimentCounts {
  readonly variants: readonly VariantDays[];
  /** Number of distinct users of all variants. */
  readonly users: number;
}

/** The counts of a variant's series by day. */
export interface DailyCounts extends Pick<VariantDays, 'variant' | 'days'> {
  readonly ordinal: number;
}

/** Reads the checks and events of each variant of a feature, by UTC day. */
export function* readDays(
  store: UsageTables,
  environment: number,
  { feature, days }: Pick<CountsOf, 'feature' | 'days'>,
): Reading<readonly DailyCounts[]> {
  const length = days.to - days.from;
  const series = yield* pickSeries(store, environment, (name) =>
    name.length === 2 && name[0] === feature && name[1] !== featureItself ? name[1] : undefined,
  );
  const counts = [...series].map(([ordinal, variant]) => ({
    ordinal,
    variant,
    days: Array.from({ length }, () => ({ checks: 0, used: 0, viewed: 0 })),
  }));
  const byDay = new Map(counts.map((each) => [each.ordinal, each.days]));
  const from = days.from * minutesPerDay;
  const to = days.to * minutesPerDay;
  const wanted = { from, to, grain: 'day', only: [...series.keys()] } as const;
  const budget = new PointBudget();
  yield* fromSnapshot(store.lmdb, (at) =>
    readCounts(store, environment, wanted, at, (block) => {
      const day = Math.floor(block.minute / minutesPerDay) - days.from;
      for (let index = 0; index < block.size; index += 1) {
        const counts = byDay.get(block.ordinals[index]!)?.[day];
        if (counts === undefined) continue;
        if (counts.checks + counts.used + counts.viewed === 0) budget.take();
        counts.checks += block.checks[index]!;
        counts.used += block.used[index]!;
        counts.viewed += block.viewed[index]!;
      }
    }),
  );
  return counts;
}

/** Reads the counts, users and metrics of each variant over whole UTC days. @param metrics names of counters */
export function* readVariants(
  store: UsageTables,
  unions: UserUnions,
  environment: number,
  { feature, days, metrics, amounts }: CountsOf,
): Reading<ExperimentCounts> {
  const counts = yield* readDays(store, environment, { feature, days });
  const measured = yield* readMetrics(store, environment, { feature, days, metrics });
  const users = yield* countUniqueUsers(unions, environment, days, [counts.map(({ ordinal }) => ordinal)]);
  const variants = counts.map(({ ordinal, variant, days }) => ({
    variant,
    users: users.series.get(ordinal) ?? 0,
    days,
    metrics: measured.get(variant) ?? new Map(),
    amounts,
  }));
  const given = variants.filter(({ users, days }) => users > 0 || days.some(({ checks }) => checks > 0));
  return { variants: given, users: users.groups[0] ?? 0 };
}

/** Reads the daily sums of metrics, by variant and metric. */
function* readMetrics(
  store: UsageTables,
  environment: number,
  { feature, days, metrics }: Omit<CountsOf, 'amounts'>,
): Reading<ReadonlyMap<string, ReadonlyMap<string, DayOfMetric[]>>> {
  const found = new Map<string, Map<string, DayOfMetric[]>>();
  if (metrics.length === 0 || days.to === days.from) return found;
  const isWanted = (name: SeriesName) => name.length === 3 && name[1] === feature && metrics.includes(name[0]);
  const series = yield* pickSeries(store, environment, (name) => (isWanted(name) ? name : undefined));
  const range = { from: days.from * minutesPerDay, to: days.to * minutesPerDay, step: 'day' } as const;
  yield* sumUp({ store, series, budget: new PointBudget() }, environment, range, (ordinal, _, points) => {
    const [metric, , variant] = series.get(ordinal) as readonly [string, string, string];
    const byMetric = found.get(variant) ?? new Map<string, DayOfMetric[]>();
    found.set(variant, byMetric);
    const sums = byMetric.get(metric) ?? Array.from({ length: days.to - days.from }, () => ({ sum: 0, count: 0 }));
    byMetric.set(metric, sums);
    for (const [t, { sum, count }] of points) {
      const day = sums[Math.floor(t / 86_400) - days.from];
      if (day === undefined) continue;
      day.sum += sum;
      day.count += count;
    }
  });
  return found;
}

/** Returns the counts of a variant as one side of the comparison of a metric. */
export function createSide({ variant, users, days, metrics, amounts }: VariantDays, metric: string): Variant {
  if (metric === 'used' || metric === 'viewed')
    return { variant, users, days: days.map((day) => ({ checks: day.checks, events: day[metric] })) };
  const sums = metrics.get(metric);
  const counted = days.map(({ checks }, index) => ({ checks, events: sums?.[index]?.sum ?? 0 }));
  return { variant, users, days: counted, ...(amounts.includes(metric) && { spread: computeSpread(days, sums) }) };
}

/**
 * Computes the spread of a metric. For amounts, only the number of observations is known, not each amount. Every
 * observation therefore counts as the mean amount.
 */
function computeSpread(days: VariantDays['days'], sums: readonly DayOfMetric[] | undefined): number {
  const checks = days.reduce((all, day) => all + day.checks, 0);
  const sum = sums?.reduce((all, day) => all + day.sum, 0) ?? 0;
  const count = sums?.reduce((all, day) => all + day.count, 0) ?? 0;
  return checks === 0 || count === 0 ? 0 : sum ** 2 / (count * checks);
}
