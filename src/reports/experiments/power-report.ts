import type { Power } from '../../contract/shapes/experiment.ts';
import { countUniqueUsers, type UserUnions } from '../../storage/aggregate/unique-users.ts';
import type { Weight } from '../../storage/lmdb/records.ts';

import { featureItself } from '../../storage/lmdb/series.ts';
import type { Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { alpha } from '../statistics/compare.ts';
import { total } from '../statistics/difference.ts';
import { daysUntil, detectable, type Traffic } from '../statistics/power.ts';
import { pickSeries } from '../usage/sights.ts';
import { points } from './comparison-text.ts';
import { createSide, type ExperimentCounts, readVariants } from './experiment-counts.ts';

export interface PowerTask {
  readonly environment: number;
  readonly feature: string;
  readonly metric: string;
  readonly base: string | undefined;
  /** The intended split; `null` for an even split. */
  readonly split: readonly Weight[] | null;
  /** See `VariantDays`. */
  readonly amounts: readonly string[];
  /** Unix ms. */
  readonly now: number;
}

const dayMs = 86_400_000;

/** Number of days whose traffic is read. It is also the longest period for which users are counted. */
const readDays = 28;
const spans = [1, 7, 14, 28] as const;

/** Durations of experiments that the report shows, in days. */
const lengths = [7, 10, 14, 21, 28, 42, 56, 84];

/** Computes the differences that are detectable with the traffic of the last 28 days. */
export function* powerReport(store: UsageTables, unions: UserUnions, task: PowerTask): Reading<Power> {
  const { environment, feature, metric, amounts, now } = task;
  const today = Math.floor(now / dayMs);
  const days = { from: Math.max(0, today - readDays), to: today };
  const metrics = metric === 'used' || metric === 'viewed' ? [] : [metric];
  const counts = yield* readVariants(store, unions, environment, { feature, days, metrics, amounts });
  const users = yield* usersBySpan(store, unions, environment, feature, today);
  const traffic = computeTraffic(counts, metric, users);
  if (traffic === undefined) return { rate: null, usersPerDay: 0, points: [], text: noTraffic };
  const { shares, others } = sharesIn(task, counts);
  const level = alpha / Math.max(1, others);
  const of = { ...traffic, shares };
  const found = lengths.map((length): [number, number] => [length, detectable(of, length, level)]);
  const isShare = metrics.length === 0;
  return {
    rate: traffic.rate,
    usersPerDay: users[0]?.[1] ?? 0,
    points: found.filter(([, difference]) => Number.isFinite(difference)),
    text: exampleText(of, level, isShare),
  };
}

const noTraffic =
  'The flag had no users in the last 28 days, so the time that an experiment needs cannot be estimated.';

/** Counts the users of the last days, for periods of different lengths. */
function* usersBySpan(
  store: UsageTables,
  unions: UserUnions,
  environment: number,
  feature: string,
  today: number,
): Reading<readonly (readonly [days: number, users: number])[]> {
  const series = yield* pickSeries(store, environment, (name) =>
    name.length === 2 && name[0] === feature && name[1] !== featureItself ? true : undefined,
  );
  const users: (readonly [number, number])[] = [];
  for (const span of spans) {
    const days = { from: Math.max(0, today - span), to: today };
    const { groups } = yield* countUniqueUsers(unions, environment, days, [[...series.keys()]]);
    users.push([span, groups[0] ?? 0]);
  }
  return users;
}

/** Computes the traffic of all variants; `undefined` without traffic. */
export function computeTraffic(
  { variants }: Pick<ExperimentCounts, 'variants'>,
  metric: string,
  users: Traffic['users'],
): Omit<Traffic, 'shares'> | undefined {
  const sides = variants.map((each) => createSide(each, metric));
  const sum = total(sides.flatMap(({ days }) => days));
  const given = Math.max(0, ...sides.map(({ days }) => days.filter(({ checks }) => checks > 0).length));
  if (sum.checks === 0 || given === 0 || (users.at(-1)?.[1] ?? 0) === 0) return undefined;
  const spreads = sides.flatMap(({ spread }) => spread ?? []);
  const spread = spreads.length === 0 ? undefined : Math.max(...spreads);
  return { rate: sum.events / sum.checks, checks: sum.checks / given, users, spread };
}

/** Returns the shares of the base and of the smallest other variant, and the number of other variants. */
function sharesIn({ base, split }: PowerTask, { variants }: ExperimentCounts) {
  const seen = variants.map(({ variant }): Weight => [variant, 1]);
  const weights =
    split ??
    (seen.length > 1
      ? seen
      : ([
          ['a', 1],
          ['b', 1],
        ] as const));
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const [, own] = weights.find(([variant]) => variant === base) ?? weights[0]!;
  const at = Math.max(
    0,
    weights.findIndex(([variant]) => variant === base),
  );
  const others = weights.filter((_, index) => index !== at).map(([, weight]) => weight);
  const least = others.length === 0 ? own : Math.min(...others);
  return { shares: [own / all, least / all] as const, others: others.length };
}

/**
 * Candidate sizes of the example. The report shows the first size that is detectable within four weeks, or else the
 * last size.
 */
const examples = [0.005, 0.01, 0.02, 0.05, 0.1];

function exampleText(traffic: Traffic, level: number, isShare: boolean): string {
  const sizes = isShare ? examples : examples.map((part) => part * 2 * traffic.rate);
  const found = sizes.map((size) => [size, daysUntil(traffic, size, level)] as const);
  const [size, days] = found.find(([, days = 999]) => days <= 28) ?? found.at(-1)!;
  const what = isShare ? points(size).replace(/\.0+ /, ' ') : `${((100 * size) / traffic.rate).toFixed(0)} %`;
  return days === undefined
    ? `A difference of ${what} is not detectable within a year.`
    : `A difference of ${what} is detectable in about ${days} days.`;
}
