import type { RolloutStep } from '../../../contract/shapes/feature.ts';
import type { FeatureUsage } from '../../../contract/shapes/reports.ts';
import type { Buckets } from '../../parts/chart/series.ts';

/** The variant whose share grows most over the plan. */
export function shownVariant(steps: readonly RolloutStep[]): string {
  const [first, last] = [steps[0]?.split ?? {}, steps.at(-1)?.split ?? {}];
  const growth = (variant: string) =>
    shareOf(last, variant) - (steps.length > 1 ? shareOf(first, variant) : 0);
  const variants = [...new Set([...Object.keys(first), ...Object.keys(last)])].sort();
  return variants.toSorted((a, b) => growth(b) - growth(a))[0] ?? '';
}

/** The planned share of a variant at some times (Unix seconds), in percent; 0 before the first step. */
export function plannedShares(
  steps: readonly RolloutStep[],
  variant: string,
  times: readonly number[],
): number[] {
  return times.map((time) => {
    const step = steps.findLast(({ at }) => Date.parse(at) <= time * 1000);
    return step === undefined ? 0 : 100 * shareOf(step.split, variant);
  });
}

/** The actual share of a variant in the checks of each bucket, in percent. */
export function shareIn(
  usage: FeatureUsage | undefined,
  variant: string,
  { start, width, count }: Buckets,
): number[] {
  const own = new Array<number>(count).fill(0);
  const all = new Array<number>(count).fill(0);
  for (const each of usage?.variants ?? []) {
    for (const [time, checks] of each.series) {
      const index = Math.max(0, Math.floor((time - start) / width));
      if (index >= count) continue;
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
