import type { FeatureUsage, UsageReport } from '../../contract/shapes/reports.ts';
import { mergeCounts } from '../../storage/aggregate/merge.ts';
import { readCounts } from '../../storage/aggregate/read-counts.ts';
import { countUniqueUsers, type UniqueUsers, UserUnions } from '../../storage/aggregate/unique-users.ts';
import type { Freshness } from '../../storage/commit/usage-store.ts';
import { type Counts, countsCodec } from '../../storage/lmdb/blocks.ts';
import type { Environment } from '../../storage/lmdb/records.ts';
import { featureItself } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import {
  bucketIn,
  chooseGrain,
  daysText,
  findUserDays,
  minuteText,
  PointBudget,
  type ReportRange,
  shownZone,
} from './report-range.ts';
import { pickSeries } from './sights.ts';

export interface UsageTask {
  readonly environment: Environment;
  readonly range: ReportRange;
  /** The feature or metric to report; `undefined` for all. */
  readonly only: string | undefined;
  /** See `Call`. */
  readonly fresh?: Freshness | undefined;
}

/** The running counts of a variant's series. Points are not kept for whole features. */
interface VariantTotals {
  readonly ordinal: number;
  readonly variant: string;
  readonly points: FeatureUsage['variants'][number]['series'];
}

/**
 * Adds up the counts of an environment, and counts its users.
 * @param only feature to report; `undefined` for all
 * @param unions users known from earlier reports of this store
 * @throws {Refusal} `too_many_points`
 */
export function* usageReport(
  store: UsageTables,
  environment: { readonly name: string; readonly number: number },
  range: ReportRange,
  only: string | undefined,
  unions = new UserUnions(store),
): Reading<UsageReport> {
  const totals = yield* totalsIn(store, environment.number, only);
  yield* addUp(store, environment.number, range, totals, only);
  const features = [...totals];
  const groups = features.map(([, series]) => series.map(({ ordinal }) => ordinal));
  const days = yield* findUserDays(unions, environment.number, range);
  const users = yield* countUniqueUsers(unions, environment.number, days, groups);
  return {
    environment: environment.name,
    from: minuteText(range.from),
    to: minuteText(range.to),
    step: range.step,
    ...shownZone(range),
    uniqueUsers: users.environment,
    userDays: daysText(days),
    features: features
      .map(([feature, series], index) => describe(feature, series, users.groups[index] ?? 0, users))
      .filter(({ variants, uniqueUsers }) => variants.length > 0 || uniqueUsers > 0),
  };
}

function* totalsIn(
  store: UsageTables,
  environment: number,
  only: string | undefined,
): Reading<Map<string, VariantTotals[]>> {
  const features = new Map<string, VariantTotals[]>();
  yield* pickSeries(store, environment, (name, ordinal) => {
    const [feature, variant] = name;
    if (name.length !== 2 || variant === undefined || (only ?? feature) !== feature) return;
    const series = features.get(feature) ?? [];
    features.set(feature, series);
    series.push({ ordinal, variant, points: [] });
  });
  return features;
}

/** The points of a series. A bucket can arrive in several blocks. */
type PointsByTime = Map<number, [t: number, checks: number, used: number, viewed: number]>;

function addUp(
  store: UsageTables,
  environment: number,
  range: ReportRange,
  features: ReadonlyMap<string, readonly VariantTotals[]>,
  only: string | undefined,
): Reading<void> {
  const totals = [...features.values()].flat();
  const points = new Map<number, PointsByTime>(totals.map(({ ordinal }) => [ordinal, new Map()]));
  const budget = new PointBudget();
  const wanted = {
    ...range,
    grain: chooseGrain(range),
    ...(only === undefined ? {} : { only: totals.map(({ ordinal }) => ordinal) }),
  };
  return fromSnapshot(store.lmdb, function* (at) {
    yield* readCounts(store, environment, wanted, at, (block) => {
      const t = bucketIn(range, block.minute);
      for (let index = 0; index < block.size; index += 1) {
        const series = points.get(block.ordinals[index]!);
        if (series === undefined) continue;
        if (!series.has(t)) budget.take();
        const point = series.get(t) ?? [t, 0, 0, 0];
        series.set(t, point);
        point[1] += block.checks[index]!;
        point[2] += block.used[index]!;
        point[3] += block.viewed[index]!;
      }
    });
    for (const each of totals) {
      each.points.push(...[...points.get(each.ordinal)!.values()].sort(([a], [b]) => a - b));
    }
  });
}

function describe(
  feature: string,
  series: readonly VariantTotals[],
  uniqueUsers: number,
  users: UniqueUsers,
): FeatureUsage {
  const variants = series
    .filter(({ variant, points }) => variant !== featureItself && points.length > 0)
    .map(({ ordinal, variant, points }) => ({
      variant,
      ...sumCounts(points.map(([, checks, used, viewed]) => ({ checks, used, viewed }))),
      uniqueUsers: users.series.get(ordinal) ?? 0,
      series: points,
    }));
  return { feature, ...sumCounts(variants), uniqueUsers, variants };
}

function sumCounts(deps: readonly Counts[]): Counts {
  const total = countsCodec.empty();
  for (const part of deps) mergeCounts(total, part);
  return total;
}
