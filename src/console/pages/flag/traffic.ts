import type { FeatureUsage } from '../../../contract/shapes/reports.ts';
import { type Buckets, type ChartSeries, indexAt, type Tone, toneOf } from '../../parts/chart/series.ts';

/** The figures that the chart can show. */
export const measures = ['checks', 'used', 'viewed'] as const;
export type Measure = (typeof measures)[number];

/** Further variants are folded into one series: more could not be distinguished. */
const maxSeries = 6;

/** The variants by name, so that their colours do not depend on the order by checks. */
export function variantsOf(usage: FeatureUsage | undefined): FeatureUsage['variants'] {
  return (usage?.variants ?? []).toSorted((a, b) => (a.variant < b.variant ? -1 : 1));
}

/** The tones of the variants with most checks. */
export function tonesOf(usage: FeatureUsage | undefined): ReadonlyMap<string, Tone> {
  const most = (usage?.variants ?? []).toSorted((a, b) => b.checks - a.checks).slice(0, maxSeries);
  const own = new Set(most.map(({ variant }) => variant));
  const named = variantsOf(usage).filter(({ variant }) => own.has(variant));
  return new Map(named.map(({ variant }, index) => [variant, toneOf(index)]));
}

/** A series for each variant with a tone, and one for the others. */
export function seriesOf(usage: FeatureUsage | undefined, buckets: Buckets, measure: Measure): ChartSeries[] {
  const tones = tonesOf(usage);
  const series: ChartSeries[] = [];
  const others = new Array<number>(buckets.count).fill(0);
  for (const { variant, series: points } of variantsOf(usage)) {
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
    // A bucket of a longer step may begin before the range.
    const index = Math.max(0, indexAt(buckets, point[0]));
    if (index < buckets.count) values[index]! += point[at]!;
  }
}

/** The variants that a split can have: its own, and those that were seen. */
export function splitVariants(
  split: Readonly<Record<string, number>> | null,
  seen: readonly string[],
): readonly string[] {
  return [...new Set([...Object.keys(split ?? {}), ...seen])].sort();
}

/** The split from the typed weights; `null` if all are empty. */
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
