import type { CountsBlock } from '../storage/aggregate/read-counts.ts';
import type { Counts } from '../storage/lmdb/cells.ts';
import type { Names } from './overview-names.ts';
import type { Grid } from './overview-range.ts';

/** The counts of an overview while they are added up. */
export class Tally {
  /** Checks of each series, by ordinal. */
  readonly checks: Float64Array;
  /** Of each feature, by number. */
  readonly used: Float64Array;
  readonly viewed: Float64Array;
  /** The points of all sparklines, feature by feature. */
  readonly spark: Float64Array;
  /** Of the environment, bucket by bucket. */
  readonly series: Readonly<Record<keyof Counts, Float64Array>>;

  /** @param other to start from, instead of from nothing */
  constructor({ features, featureOf }: Names, { length, spark }: Grid, other?: Tally) {
    this.checks = other?.checks.slice() ?? new Float64Array(featureOf.length);
    this.used = other?.used.slice() ?? new Float64Array(features.length);
    this.viewed = other?.viewed.slice() ?? new Float64Array(features.length);
    this.spark = other?.spark.slice() ?? new Float64Array(features.length * spark.length);
    const start = (part: keyof Counts) => other?.series[part].slice() ?? new Float64Array(length);
    this.series = { checks: start('checks'), used: start('used'), viewed: start('viewed') };
  }

  add(block: CountsBlock, { featureOf }: Names, { start, width, spark }: Grid): void {
    const { size, ordinals, checks, used, viewed } = block;
    const since = Math.max(0, block.minute * 60 - start);
    const point = Math.floor(since / spark.width);
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
    const bucket = Math.floor(since / width);
    for (const part of ['checks', 'used', 'viewed'] as const) this.series[part][bucket]! += sums[part];
  }

  total(): Counts {
    const sum = (numbers: Float64Array) => numbers.reduce((all, each) => all + each, 0);
    const { checks, used, viewed } = this.series;
    return { checks: sum(checks), used: sum(used), viewed: sum(viewed) };
  }
}
