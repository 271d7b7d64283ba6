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
  const heights = kind === 'stacked' ? stacked(own) : own;
  return {
    xs: Array.from({ length: buckets.count }, (_, index) => startOf(buckets, index)),
    heights,
    max: heights.reduce((max, each) => each.reduce((a, b) => Math.max(a, b), max), 0),
    finished: Math.max(0, Math.min(unfinishedFrom, buckets.count)),
  };
}

function stacked(series: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const values of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return sums;
}

/** Whether two drawings look the same. */
export function sameDrawing(one: Drawing, other: Drawing): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
