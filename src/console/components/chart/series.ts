import { type Bounds, dayStarts, widths } from '../../address/range.ts';

/** Consecutive time spans of equal length, or days of a time zone. */
export interface Buckets {
  /** Start of the first bucket, Unix seconds. */
  readonly start: number;
  /** Usual width of a bucket, seconds. */
  readonly width: number;
  readonly count: number;
  /** Start of each bucket, Unix seconds. Present for days, whose lengths differ when clocks change. */
  readonly starts?: readonly number[] | undefined;
  /** True if the buckets are UTC days regardless of the reader's time zone, as for counts of users. */
  readonly utc?: boolean;
}

/** Colours and dash patterns of series: `other` for the sum of the remaining series, `past` for an earlier period. */
export const tones = [1, 2, 3, 4, 5, 6, 'other', 'past'] as const;
export type Tone = (typeof tones)[number];

export interface ChartSeries {
  readonly label: string;
  readonly values: readonly number[];
  readonly tone: Tone;
  /** True if a stacked chart draws the series as a separate pale line, for example for an earlier period. */
  readonly apart?: boolean;
  /** True to draw the line in steps, because each value holds until the next value. */
  readonly steps?: boolean;
}

export interface Marker {
  /** Unix seconds. */
  readonly at: number;
  readonly label: string;
  readonly href?: string;
}

/** `stacked` and `lines` are charts; `table` lists the figures instead. */
export type ChartKind = 'stacked' | 'lines' | 'table';

/** Lengths of dashes and gaps, px. They distinguish series in black and white. */
export const dashes: Readonly<Record<Tone, readonly number[]>> = {
  1: [],
  2: [8, 4],
  3: [2, 3],
  4: [10, 3, 2, 3],
  5: [4, 4],
  6: [14, 4],
  other: [1, 4],
  past: [],
};

/** The tone of the series at an index, from 0. Series after the sixth share a tone. */
export function getSeriesTone(index: number): Tone {
  return index < 6 ? tones[index]! : 'other';
}

export function createBuckets(bounds: Bounds): Buckets {
  const { from, to, step } = bounds;
  const width = widths[step] / 1000;
  const starts = dayStarts(bounds);
  const count = starts?.length ?? Math.round((to - from) / 1000 / width);
  return { start: from / 1000, width, count, ...(starts && { starts }) };
}

/** Returns the start of a bucket, Unix seconds. For the index after the last bucket, returns the end of the chart. */
export function bucketStart({ start, width, starts }: Buckets, index: number): number {
  if (starts === undefined) return start + index * width;
  return starts[index] ?? starts.at(-1)! + (index - starts.length + 1) * width;
}

/** Returns the index of the bucket that contains a time; an index out of range if all buckets are earlier or later. */
export function indexAt(buckets: Buckets, time: number): number {
  const { start, width, starts } = buckets;
  if (starts === undefined || time < starts[0]! || time >= bucketStart(buckets, starts.length))
    return Math.floor((time - start) / width);
  return starts.findLastIndex((each) => each <= time);
}

/** Returns the index of the bucket that contains a time; `undefined` for a time outside of the buckets. */
export function bucketAt(buckets: Buckets, time: number): number | undefined {
  const index = indexAt(buckets, time);
  return index >= 0 && index < buckets.count ? index : undefined;
}

const maxLabels = 6;

export function markersIn(buckets: Buckets, markers: readonly Marker[], index: number): string[] {
  const labels = markers.filter(({ at }) => bucketAt(buckets, at) === index).map(({ label }) => label);
  if (labels.length <= maxLabels) return labels;
  return [...labels.slice(0, maxLabels - 1), `${labels.length - maxLabels + 1} more events`];
}

export interface Drawing {
  readonly xs: number[];
  /** Height of each series in each bucket. In a stacked chart, it includes the series below. */
  readonly heights: number[][];
  readonly max: number;
  readonly finished: number;
}

/** The content of a chart that each response of the server can change. */
export interface PlotContent {
  readonly buckets: Buckets;
  readonly drawing: Drawing;
  readonly markers: readonly Marker[];
}

/** @param unfinishedFrom index of the first bucket that is not complete */
export function createDrawing(
  buckets: Buckets,
  series: readonly ChartSeries[],
  kind: ChartKind,
  unfinishedFrom = buckets.count,
): Drawing {
  const own = series.map(({ values }) => Array.from({ length: buckets.count }, (_, i) => values[i] ?? 0));
  const heights = kind === 'stacked' ? stacked(own, series) : own;
  return {
    xs: Array.from({ length: buckets.count }, (_, index) => bucketStart(buckets, index)),
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

export function sameDrawing(one: Drawing, other: Drawing): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const maxTicks = 5;

/**
 * Computes the lines of the value axis: multiples of 1, 2 or 5 times a power of ten, from 0. The last line is at least
 * as high as every figure. Counts have no fractions.
 */
export function computeTicks({ max, heights }: Pick<Drawing, 'max' | 'heights'>): number[] {
  const isWhole = heights.every((values) => values.every(Number.isInteger));
  const top = max > 0 ? max : 1;
  const power = 10 ** Math.floor(Math.log10(top / maxTicks));
  const fits = (distance: number) => (!isWhole || distance >= 1) && Math.ceil(top / distance - 1e-9) <= maxTicks;
  const distance = [1, 2, 5, 10, 20, 50, 100].map((times) => times * power).find(fits) ?? 1;
  const count = Math.max(1, Math.ceil(top / distance - 1e-9));
  return Array.from({ length: count + 1 }, (_, index) => Number((index * distance).toPrecision(12)));
}

export interface ChartCursor {
  readonly at: number | undefined;
  /** The other end of the range that is being selected. */
  readonly anchor: number | undefined;
}

export const nowhere: ChartCursor = { at: undefined, anchor: undefined };

const steps: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  PageUp: (at) => at - 10,
  PageDown: (at) => at + 10,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/**
 * Returns the cursor after a key is pressed. Shift selects a range. If the cursor was `nowhere`, every key except Home
 * moves it to the end.
 * @returns `undefined` if the key does not move the cursor
 */
export function afterKey(
  { at, anchor }: ChartCursor,
  key: string,
  shift: boolean,
  count: number,
): ChartCursor | undefined {
  if (key === 'Escape')
    return at === undefined ? undefined : { at: anchor === undefined ? undefined : at, anchor: undefined };
  const step = steps[key];
  if (step === undefined || count === 0) return undefined;
  const within = clampTo(count, step(at ?? count, count));
  return { at: within, anchor: shift ? (anchor ?? at ?? within) : undefined };
}

/** Returns the first and the last selected bucket. They are equal if no range is selected. */
export function selected({ at, anchor }: ChartCursor): readonly [number, number] | undefined {
  if (at === undefined) return undefined;
  return [Math.min(at, anchor ?? at), Math.max(at, anchor ?? at)];
}

/** Returns the time from the beginning of one bucket to the end of another, Unix ms. */
export function bucketSpan(buckets: Buckets, first: number, last: number): readonly [number, number] {
  return [bucketStart(buckets, first) * 1000, bucketStart(buckets, last + 1) * 1000];
}

export function bucketsWithin(buckets: Buckets, from: number, to: number): readonly [number, number] {
  const index = (time: number) => clampTo(buckets.count, indexAt(buckets, time));
  return [index(from), index(to)];
}

function clampTo(count: number, index: number): number {
  return Math.max(0, Math.min(count - 1, index));
}
