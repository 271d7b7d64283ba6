import { type Buckets, type ChartKind, type ChartSeries, type Marker, startOf } from './series.ts';

/** What is drawn of a chart, as numbers. */
export interface Drawing {
  /** Where each bucket is, Unix seconds. */
  readonly xs: number[];
  /** Where each series is over each bucket: its own figures, or with those of the series below it. */
  readonly heights: number[][];
  readonly max: number;
  /** How many buckets are complete. */
  readonly finished: number;
}

/** What may change with every answer of the server. */
export interface PlotContent {
  readonly buckets: Buckets;
  readonly drawing: Drawing;
  readonly markers: readonly Marker[];
}

/** @param unfinishedFrom the first bucket that is still being filled */
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

/** Puts each series on top of those before it. */
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
  return (
    one.finished === other.finished &&
    sameNumbers(one.xs, other.xs) &&
    one.heights.length === other.heights.length &&
    one.heights.every((heights, index) => sameNumbers(heights, other.heights[index] ?? []))
  );
}

function sameNumbers(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
