import type { RolloutStep } from '../../../contract/shapes/feature.ts';
import type { FeatureUsage } from '../../../contract/shapes/reports.ts';
import { type Buckets, bucketAt, startOf } from '../../parts/chart/series.ts';

/** The variant whose share grows most over the plan. */
export function shownVariant(steps: readonly RolloutStep[]): string {
  const first = steps[0]?.split ?? {};
  const last = steps.at(-1)?.split ?? {};
  const growth = (variant: string) =>
    shareOf(last, variant) - (steps.length > 1 ? shareOf(first, variant) : 0);
  const variants = [...new Set([...Object.keys(first), ...Object.keys(last)])].sort();
  return variants.toSorted((a, b) => growth(b) - growth(a))[0] ?? '';
}

/** The planned share of a variant in the middle of each bucket, in percent; 0 before the first step. */
export function plannedShares(steps: readonly RolloutStep[], variant: string, buckets: Buckets): number[] {
  return Array.from({ length: buckets.count }, (_, index) => {
    const middle = (startOf(buckets, index) + startOf(buckets, index + 1)) / 2;
    const step = steps.findLast(({ at }) => Date.parse(at) <= middle * 1000);
    return step === undefined ? 0 : plannedShare(step, variant);
  });
}

/** The share of a variant from a step on, in percent. */
export function plannedShare({ split }: RolloutStep, variant: string): number {
  return 100 * shareOf(split, variant);
}

/** The actual share of a variant in the checks of each bucket, in percent. */
export function shareIn(usage: FeatureUsage | undefined, variant: string, buckets: Buckets): number[] {
  const own = new Array<number>(buckets.count).fill(0);
  const all = new Array<number>(buckets.count).fill(0);
  for (const each of usage?.variants ?? []) {
    for (const [time, checks] of each.series) {
      const index = bucketAt(buckets, time);
      if (index === undefined) continue;
      all[index]! += checks;
      if (each.variant === variant) own[index]! += checks;
    }
  }
  return own.map((checks, index) => (all[index] === 0 ? 0 : (100 * checks) / all[index]!));
}

function shareOf(split: Readonly<Record<string, number>>, variant: string): number {
  const all = Object.values(split).reduce((sum, each) => sum + each, 0);
  return Object.hasOwn(split, variant) ? split[variant]! / all : 0;
}
