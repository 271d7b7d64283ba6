import { type Buckets, type ChartKind, type ChartSeries, type Marker, startOf } from './series.ts';

/** A chart as numbers. */
export interface Drawing {
  /** Start of each bucket, Unix seconds. */
  readonly xs: number[];
  /** Height of each series in each bucket, on top of the series below it if stacked. */
  readonly heights: number[][];
  readonly max: number;
  /** Number of complete buckets. */
  readonly finished: number;
}

/** The parts of a chart that each answer of the server may change. */
export interface PlotContent {
  readonly buckets: Buckets;
  readonly drawing: Drawing;
  readonly markers: readonly Marker[];
}

/** @param unfinishedFrom index of the first bucket that is not complete */
export function drawingOf(
  buckets: Buckets,
  series: readonly ChartSeries[],
  kind: ChartKind,
  unfinishedFrom = buckets.count,
): Drawing {
  const own = series.map(({ values }) => Array.from({ length: buckets.count }, (_, i) => values[i] ?? 0));
  const heights = kind === 'stacked' ? stacked(own, series) : own;
  return {
    xs: Array.from({ length: buckets.count }, (_, index) => startOf(buckets, index)),
    heights,
    max: heights.reduce((max, each) => each.reduce((a, b) => Math.max(a, b), max), 0),
    finished: Math.max(0, Math.min(unfinishedFrom, buckets.count)),
  };
}

function stacked(own: readonly number[][], series: readonly ChartSeries[]): number[][] {
  let below: readonly number[] = [];
  return own.map((values, at) => {
    if (series[at]!.apart) return values;
    const sums = values.map((value, index) => value + (below[index] ?? 0));
    below = sums;
    return sums;
  });
}

/** True if two drawings look the same. */
export function sameDrawing(one: Drawing, other: Drawing): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Maximum number of lines above 0 on the axis of the figures. */
const maxTicks = 5;

/**
 * The lines of the axis of the figures: multiples of 1, 2 or 5 times a power of ten from 0 on. The last one is not below any
 * figure. Counts have no fractions.
 */
export function ticksOf({ max, heights }: Pick<Drawing, 'max' | 'heights'>): number[] {
  const isWhole = heights.every((values) => values.every(Number.isInteger));
  const top = max > 0 ? max : 1;
  const power = 10 ** Math.floor(Math.log10(top / maxTicks));
  const fits = (distance: number) =>
    (!isWhole || distance >= 1) && Math.ceil(top / distance - 1e-9) <= maxTicks;
  const distance = [1, 2, 5, 10, 20, 50, 100].map((times) => times * power).find(fits) ?? 1;
  const count = Math.max(1, Math.ceil(top / distance - 1e-9));
  return Array.from({ length: count + 1 }, (_, index) => Number((index * distance).toPrecision(12)));
}
