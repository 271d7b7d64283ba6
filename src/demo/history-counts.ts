import type { Batch } from '../storage/commit/batch.ts';
import type { EnvironmentSeries } from '../storage/commit/series-dictionary.ts';
import type { Environment } from '../storage/lmdb/records.ts';
import type { Shares } from './flags.ts';
import { metrics } from './metrics.ts';
import type { Random } from './random.ts';
import type { Span } from './spans.ts';
import { checksOf, numberedFlags, type Story } from './story.ts';

/** An environment whose history is being written, and where it goes. */
export interface HistoryPlace {
  readonly story: Story;
  readonly random: Random;
  readonly environment: Environment;
  readonly batch: Batch;
  readonly series: EnvironmentSeries;
}

/** A variant that is asked for on a day. */
export interface CountedVariant {
  readonly ref: number;
  /** Checks a minute, at the average of Production. */
  readonly mean: number;
  /** The chance that a check is used, and that it is viewed. */
  readonly used: number;
  readonly viewed: number;
}

/**
 * The variants that are asked for on a day.
 * @param given the shares of the variants that the day's visitors got, by the number of the flag
 */
export function variantsOf(
  { story, environment, series, batch }: HistoryPlace,
  day: number,
  given: ReadonlyMap<number, Shares> = new Map(),
): CountedVariant[] {
  return numberedFlags.flatMap(([index, flag]) => {
    if (!story.isAsked(flag, environment.name, day)) return [];
    const shares = given.get(index) ?? story.sharesOf(flag, environment.name, day);
    const real = Object.entries(shares).filter(([, share]) => share > 0);
    return real.map(([variant, share]) => ({
      ref: series.variant(flag.name, variant, batch)!,
      mean: checksOf(flag) * share,
      ...story.rateOf(flag, index, variant, day),
    }));
  });
}

/** Adds the checks, uses and views of a part of a day. */
export function addCounts(
  { story, random, environment, batch }: HistoryPlace,
  { minute, minutes, bucket }: Span,
  variants: readonly CountedVariant[],
): void {
  const weight = story.rhythm.at(environment.name, minute + minutes / 2) * minutes;
  if (weight === 0) return;
  for (const { ref, mean, used, viewed } of variants) {
    const checks = random.poisson(mean * weight);
    if (checks === 0) continue;
    batch.counts.add(ref, bucket, checks, random.binomial(checks, used), random.binomial(checks, viewed));
  }
}

/** Adds what the metrics of the shop came to in a part of a day. */
export function addMetrics(
  { story, random, environment, batch, series }: HistoryPlace,
  { minute, minutes, bucket }: Span,
): void {
  const busyness = story.rhythm.at(environment.name, minute + minutes / 2);
  for (const { name, value } of metrics) {
    const ref = series.metric(name, batch)!;
    batch.measurements.add(ref, bucket, value(random, busyness, minutes), minute * 60_000);
  }
}
