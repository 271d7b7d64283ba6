import { type Bounds, dayStarts, widths } from '../../address/range.ts';

/** Consecutive time spans of equal length, or days of a time zone. */
export interface Buckets {
  /** Start of the first, Unix seconds. */
  readonly start: number;
  /** Seconds. */
  readonly width: number;
  readonly count: number;
  /** The start of each, Unix seconds, if they are days that differ in length because clocks change. */
  readonly starts?: readonly number[] | undefined;
  /** True if they are UTC days in any time zone, as those of users. */
  readonly utc?: boolean;
}

/** The colours and dash patterns of series; `other` is for several series folded into one, and `past` for an earlier period. */
export const tones = [1, 2, 3, 4, 5, 6, 'other', 'past'] as const;
export type Tone = (typeof tones)[number];

/** One figure for each bucket. */
export interface ChartSeries {
  readonly label: string;
  readonly values: readonly number[];
  readonly tone: Tone;
  /** True if it is drawn as a pale line of its own in a stacked chart, as an earlier period. */
  readonly apart?: boolean;
  /** True if a value holds until the next, so that the line has steps. */
  readonly steps?: boolean;
}

/** An event that the chart marks. */
export interface Marker {
  /** Unix seconds. */
  readonly at: number;
  readonly label: string;
  /** The page about it. */
  readonly href?: string;
}

/** `stacked` and `lines` are drawn; `table` lists the figures instead. */
export type ChartKind = 'stacked' | 'lines' | 'table';

/** Lengths of dashes and gaps, px. They distinguish series without colour. */
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

/** The tone of the n-th series, from 0. Series beyond the sixth share a tone. */
export function toneOf(index: number): Tone {
  return index < 6 ? tones[index]! : 'other';
}

export function bucketsOf(bounds: Bounds): Buckets {
  const { from, to, step } = bounds;
  const width = widths[step] / 1000;
  const starts = dayStarts(bounds);
  const count = starts?.length ?? Math.round((to - from) / 1000 / width);
  return { start: from / 1000, width, count, ...(starts && { starts }) };
}

/** Start of a bucket, Unix seconds. That of the one after the last is the end. */
export function startOf({ start, width, starts }: Buckets, index: number): number {
  if (starts === undefined) return start + index * width;
  return starts[index] ?? starts.at(-1)! + (index - starts.length + 1) * width;
}

/** The bucket of a time, or the number of the one that it would be in. */
export function indexAt(buckets: Buckets, time: number): number {
  const { start, width, starts } = buckets;
  if (starts === undefined || time < starts[0]! || time >= startOf(buckets, starts.length))
    return Math.floor((time - start) / width);
  return starts.findLastIndex((each) => each <= time);
}

/** The bucket of a time; `undefined` outside of all. */
export function bucketAt(buckets: Buckets, time: number): number | undefined {
  const index = indexAt(buckets, time);
  return index >= 0 && index < buckets.count ? index : undefined;
}

/** Labels shown of the markers in a bucket. */
const maxLabels = 6;

export function markersIn(buckets: Buckets, markers: readonly Marker[], index: number): string[] {
  const labels = markers.filter(({ at }) => bucketAt(buckets, at) === index).map(({ label }) => label);
  if (labels.length <= maxLabels) return labels;
  return [...labels.slice(0, maxLabels - 1), `${labels.length - maxLabels + 1} more events`];
}
