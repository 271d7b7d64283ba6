import type { ActivityKind } from '../../../contract/activity.ts';
import { type Bounds, widths } from '../../range.ts';

/** Consecutive time spans of equal length. */
export interface Buckets {
  /** Start of the first, Unix seconds. */
  readonly start: number;
  /** Seconds. */
  readonly width: number;
  readonly count: number;
}

/** The colours and dash patterns of series; `other` is for several series folded into one. */
export const tones = [1, 2, 3, 4, 5, 6, 'other'] as const;
export type Tone = (typeof tones)[number];

/** One figure for each bucket. */
export interface ChartSeries {
  readonly label: string;
  readonly values: readonly number[];
  readonly tone: Tone;
}

/** An event that the chart marks. */
export interface Marker {
  /** Unix seconds. */
  readonly at: number;
  readonly label: string;
  readonly kind?: ActivityKind;
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
};

/** The tone of the n-th series, from 0. Series beyond the sixth share a tone. */
export function toneOf(index: number): Tone {
  return tones[index] ?? 'other';
}

/** The buckets of a range. */
export function bucketsOf({ from, to, step }: Bounds): Buckets {
  const width = widths[step] / 1000;
  return { start: from / 1000, width, count: Math.round((to - from) / 1000 / width) };
}

/** Start of a bucket, Unix seconds. */
export function startOf({ start, width }: Buckets, index: number): number {
  return start + index * width;
}

/** The bucket of a time; `undefined` outside of all. */
export function bucketAt({ start, width, count }: Buckets, time: number): number | undefined {
  const index = Math.floor((time - start) / width);
  return index >= 0 && index < count ? index : undefined;
}

/** Labels shown of the markers in a bucket. */
const maxLabels = 6;

/** The labels of the markers in a bucket. */
export function markersIn(buckets: Buckets, markers: readonly Marker[], index: number): string[] {
  const labels = markers.filter(({ at }) => bucketAt(buckets, at) === index).map(({ label }) => label);
  if (labels.length <= maxLabels) return labels;
  return [...labels.slice(0, maxLabels - 1), `${labels.length - maxLabels + 1} more events`];
}
