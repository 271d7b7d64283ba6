import { addCounts } from '../storage/aggregate/merge.ts';
import type { CountsBlock } from '../storage/aggregate/read-counts.ts';
import { type Counts, countsCodec } from '../storage/lmdb/cells.ts';
import { seenOf } from '../storage/lmdb/seen.ts';
import { featureItself, seriesOf, surplusName } from '../storage/lmdb/series.ts';
import { environmentOrdinal } from '../storage/lmdb/sketches.ts';
import type { Reading, Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { bucketOf, type Grid } from './overview-range.ts';

/** The running counts of an overview. */
export class Totals {
  /** Checks of each series, by ordinal. */
  readonly checks: Float64Array;
  /** Of each feature, by number. */
  readonly used: Float64Array;
  readonly viewed: Float64Array;
  /** The points of all sparklines, feature by feature. */
  readonly spark: Float64Array;
  /** Of the environment, bucket by bucket. */
  readonly series: Readonly<Record<keyof Counts, Float64Array>>;

  /** @param other the counts to start from */
  constructor({ features, featureOf }: Names, { length, spark }: Grid, other?: Totals) {
    this.checks = other?.checks.slice() ?? new Float64Array(featureOf.length);
    this.used = other?.used.slice() ?? new Float64Array(features.length);
    this.viewed = other?.viewed.slice() ?? new Float64Array(features.length);
    this.spark = other?.spark.slice() ?? new Float64Array(features.length * spark.length);
    const start = (part: keyof Counts) => other?.series[part].slice() ?? new Float64Array(length);
    this.series = { checks: start('checks'), used: start('used'), viewed: start('viewed') };
  }

  add(block: CountsBlock, { featureOf }: Names, grid: Grid): void {
    const { size, ordinals, checks, used, viewed } = block;
    const { each, spark } = grid;
    const bucket = bucketOf(grid, block.minute * 60);
    const point = Math.floor(bucket / each);
    const sums = { checks: 0, used: 0, viewed: 0 };
    for (let index = 0; index < size; index += 1) {
      const ordinal = ordinals[index]!;
      const feature = featureOf[ordinal];
      if (feature === undefined) continue;
      this.checks[ordinal]! += checks[index]!;
      this.spark[feature * spark.length + point]! += checks[index]!;
      this.used[feature]! += used[index]!;
      this.viewed[feature]! += viewed[index]!;
      sums.checks += checks[index]!;
      sums.used += used[index]!;
      sums.viewed += viewed[index]!;
    }
    for (const part of ['checks', 'used', 'viewed'] as const) this.series[part][bucket]! += sums[part];
  }

  total(): Counts {
    const sum = (numbers: Float64Array) => numbers.reduce((all, each) => all + each, 0);
    const { checks, used, viewed } = this.series;
    return { checks: sum(checks), used: sum(used), viewed: sum(viewed) };
  }
}

/** The counts of a span, and the checks of each feature in it, by number. */
export class SpanTotals {
  readonly counts: Counts;
  readonly checks: Float64Array;

  /** @param other the counts to start from */
  constructor({ features }: Names, other?: SpanTotals) {
    this.counts = other === undefined ? countsCodec.empty() : { ...other.counts };
    this.checks = other?.checks.slice() ?? new Float64Array(features.length);
  }

  add({ size, ordinals, checks, used, viewed }: CountsBlock, { featureOf }: Names): void {
    for (let index = 0; index < size; index += 1) {
      addCounts(this.counts, checks[index]!, used[index]!, viewed[index]!);
      const feature = featureOf[ordinals[index]!];
      if (feature !== undefined && feature >= 0) this.checks[feature]! += checks[index]!;
    }
  }
}

/** The numbered features of an environment, and the series of each. */
export interface Names {
  readonly features: readonly string[];
  /** The number of a series' feature, by ordinal; -1 for a metric without a feature. */
  readonly featureOf: readonly number[];
  /** The variant of a series, by ordinal. */
  readonly variantOf: readonly (string | undefined)[];
}

/** Series between two pauses. */
const stride = 512;

/** Reads the features of an environment. */
export function* readNames(store: UsageTables, environment: number, at: Snapshot): Reading<Names> {
  const numbers = new Map<string, number>();
  const featureOf: number[] = [];
  const variantOf: (string | undefined)[] = [];
  for (const { ordinal, name } of seriesOf(store, environment, at)) {
    if (ordinal % stride === 0) yield;
    const feature = name.length === 3 ? name[1] : name[0];
    if (name.length === 1 || (name.length === 3 && feature === surplusName)) {
      featureOf[ordinal] = -1;
      continue;
    }
    const number = numbers.get(feature) ?? numbers.size;
    numbers.set(feature, number);
    featureOf[ordinal] = number;
    if (name.length === 2 && name[1] !== featureItself) variantOf[ordinal] = name[1];
  }
  return { features: [...numbers.keys()], featureOf, variantOf };
}

/** When features were seen, by number. Minutes since the epoch, 0 for never. */
export interface Sights {
  readonly first: Uint32Array;
  readonly last: Uint32Array;
  /** When the environment was first seen; `Infinity` for never. */
  readonly earliest: number;
}

/** @returns `undefined` if the names lack a series */
export function* readSights(
  store: UsageTables,
  environment: number,
  { features, featureOf }: Names,
  at: Snapshot,
): Reading<Sights | undefined> {
  const first = new Uint32Array(features.length);
  const last = new Uint32Array(features.length);
  let earliest = Number.POSITIVE_INFINITY;
  for (const seen of seenOf(store, environment, at)) {
    if (seen.ordinal % stride === 0) yield;
    const feature = featureOf[seen.ordinal];
    if (feature === undefined && seen.ordinal !== environmentOrdinal) return undefined;
    earliest = Math.min(earliest, seen.first);
    if (feature === undefined || feature < 0) continue;
    first[feature] = first[feature] === 0 ? seen.first : Math.min(first[feature]!, seen.first);
    last[feature] = Math.max(last[feature]!, seen.last);
  }
  return { first, last, earliest };
}
