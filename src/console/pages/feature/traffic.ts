import type { FeatureDetail, RolloutStep } from '../../../contract/shapes/feature.ts';
import type { FeatureUsage } from '../../../contract/shapes/reports.ts';
import type { Sender } from '../../../contract/shapes/verdict.ts';
import {
  type Buckets,
  bucketAt,
  bucketStart,
  type ChartSeries,
  getSeriesTone,
  indexAt,
  type Tone,
} from '../../components/chart/series.ts';
import { byProgram } from '../../components/programs.ts';

export const measures = ['checks', 'used', 'viewed'] as const;
export type Measure = (typeof measures)[number];

/** Maximum number of variants with their own series. Further variants share one series. */
const maxSeries = 6;

/** Sorts variants by name, so that their colours do not depend on the number of checks. */
export function sortVariants(usage: FeatureUsage | undefined): FeatureUsage['variants'] {
  return (usage?.variants ?? []).toSorted((a, b) => (a.variant < b.variant ? -1 : 1));
}

export function assignTones(usage: FeatureUsage | undefined): ReadonlyMap<string, Tone> {
  const most = (usage?.variants ?? []).toSorted((a, b) => b.checks - a.checks).slice(0, maxSeries);
  const own = new Set(most.map(({ variant }) => variant));
  const named = sortVariants(usage).filter(({ variant }) => own.has(variant));
  return new Map(named.map(({ variant }, index) => [variant, getSeriesTone(index)]));
}

export function createSeries(usage: FeatureUsage | undefined, buckets: Buckets, measure: Measure): ChartSeries[] {
  const tones = assignTones(usage);
  const series: ChartSeries[] = [];
  const others = new Array<number>(buckets.count).fill(0);
  for (const { variant, series: points } of sortVariants(usage)) {
    const tone = tones.get(variant);
    const values = tone === undefined ? others : new Array<number>(buckets.count).fill(0);
    addPoints(values, points, buckets, measure);
    if (tone !== undefined) series.push({ label: variant, values, tone });
  }
  const folded = (usage?.variants.length ?? 0) - series.length;
  return folded > 0 ? [...series, { label: `${folded} others`, values: others, tone: 'other' }] : series;
}

function addPoints(
  values: number[],
  points: FeatureUsage['variants'][number]['series'],
  buckets: Buckets,
  measure: Measure,
): void {
  const at = measures.indexOf(measure) + 1;
  for (const point of points) {
    // A wide bucket can begin before the range. It counts in the first bucket of the chart.
    const index = Math.max(0, indexAt(buckets, point[0]));
    if (index < buckets.count) values[index]! += point[at]!;
  }
}

/** Returns the variants that a split can contain: the variants of the current split, and all variants seen. */
export function splitVariants(
  split: Readonly<Record<string, number>> | null,
  seen: readonly string[],
): readonly string[] {
  return [...new Set([...Object.keys(split ?? {}), ...seen])].sort();
}

/** Lists the variants of a flag that were seen in any environment. */
export function listVariants({ environments }: Pick<FeatureDetail, 'environments'>): readonly string[] {
  return [...new Set(environments.flatMap((each) => each.variants.map(({ variant }) => variant)))];
}

/** Formats the plan of a flag in one line: the present step of its rollout, or else its split; `undefined` if none. */
export function formatPlan(
  { rollout, split }: Pick<FeatureDetail, 'rollout' | 'split'>,
  now: number,
  { time, percent }: { time(at: string): string; percent(share: number): string },
): string | undefined {
  if (rollout === null) {
    const shares = split && Object.keys(split).map((variant) => `${variant} ${percent(computeShare(split, variant))}`);
    return shares ? `split ${shares.join(', ')}` : undefined;
  }
  const variant = shownVariant(rollout);
  const share = (step: RolloutStep | undefined) => percent(step === undefined ? 0 : computeShare(step.split, variant));
  const next = rollout.find(({ at }) => Date.parse(at) > now);
  const present = share(rollout.findLast(({ at }) => Date.parse(at) <= now));
  const then = next === undefined ? ', the last step' : `, then ${share(next)} from ${time(next.at)}`;
  return `rollout of ${variant} to ${present}${then}`;
}

/** Returns the split from the weights that the reader typed; `null` if all weights are empty. */
export function typedSplit(
  variants: readonly string[],
  weights: readonly string[],
): Readonly<Record<string, number>> | null {
  const given = variants.flatMap((variant, index) => {
    const text = (weights[index] ?? '').trim();
    return text === '' ? [] : [[variant, Number(text)] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}

/** Returns the variant whose share grows most over the plan. */
export function shownVariant(steps: readonly RolloutStep[]): string {
  const first = steps[0]?.split ?? {};
  const last = steps.at(-1)?.split ?? {};
  const growth = (variant: string) =>
    computeShare(last, variant) - (steps.length > 1 ? computeShare(first, variant) : 0);
  const variants = [...new Set([...Object.keys(first), ...Object.keys(last)])].sort();
  return variants.toSorted((a, b) => growth(b) - growth(a))[0] ?? '';
}

/** Returns the planned share of a variant in the middle of each bucket, in percent; 0 before the first step. */
export function plannedShares(steps: readonly RolloutStep[], variant: string, buckets: Buckets): number[] {
  return Array.from({ length: buckets.count }, (_, index) => {
    const middle = (bucketStart(buckets, index) + bucketStart(buckets, index + 1)) / 2;
    const step = steps.findLast(({ at }) => Date.parse(at) <= middle * 1000);
    return step === undefined ? 0 : plannedShare(step, variant);
  });
}

export function plannedShare({ split }: RolloutStep, variant: string): number {
  return 100 * computeShare(split, variant);
}

/** Returns the actual share of a variant in the checks of each bucket, in percent. */
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

function computeShare(split: Readonly<Record<string, number>>, variant: string): number {
  const all = Object.values(split).reduce((sum, each) => sum + each, 0);
  return Object.hasOwn(split, variant) ? split[variant]! / all : 0;
}

export interface SenderProgram {
  readonly name: string;
  readonly lastAt: string;
  readonly routes: readonly string[];
  readonly environments: ReadonlyMap<string, ProgramThere>;
}

export interface ProgramThere {
  readonly lastAt: string;
  /** Versions; the version with the latest request comes first. Empty for a sender without versions. */
  readonly versions: readonly string[];
}

export function groupPrograms(senders: readonly Sender[]): SenderProgram[] {
  return byProgram(senders, ({ name }) => name).map(({ name, lastAt, entries }) => ({
    name,
    lastAt,
    routes: [...new Set(entries.map(({ route, transport }) => `${route}, ${transport}`))],
    environments: new Map(
      [...new Set(entries.map(({ environment }) => environment))].map((environment) => {
        const there = entries.filter((each) => each.environment === environment);
        const versions = new Set(there.flatMap(({ version }) => version ?? []));
        return [environment, { lastAt: there[0]!.lastAt, versions: [...versions] }];
      }),
    ),
  }));
}
