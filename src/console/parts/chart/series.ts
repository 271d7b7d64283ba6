/** Equal spans of time, one after the other. */
export interface Buckets {
  /** When the first begins, Unix seconds. */
  readonly start: number;
  /** Seconds. */
  readonly width: number;
  readonly count: number;
}

/** Which colour and dash pattern a series has; `other` is for what several series are folded into. */
export type Tone = 1 | 2 | 3 | 4 | 5 | 6 | 'other';

/** One figure for each bucket. */
export interface ChartSeries {
  readonly label: string;
  readonly values: readonly number[];
  readonly tone: Tone;
}

/** Something that happened, Unix seconds. */
export interface Marker {
  readonly at: number;
  readonly label: string;
}

/** Drawn on top of each other, each for itself, or not drawn but listed. */
export type ChartKind = 'stacked' | 'lines' | 'table';

/** Lengths of dashes and gaps, px: they tell series apart for those who cannot by colour. */
export const dashes: Readonly<Record<Tone, readonly number[]>> = {
  1: [],
  2: [8, 4],
  3: [2, 3],
  4: [10, 3, 2, 3],
  5: [4, 4],
  6: [14, 4],
  other: [1, 4],
};

/** The tone of the n-th series, from 0: those beyond the sixth are told apart by their names only. */
export function toneOf(index: number): Tone {
  return (['other', 1, 2, 3, 4, 5, 6] as const)[index + 1] ?? 'other';
}

/** When a bucket begins, Unix seconds. */
export function startOf({ start, width }: Buckets, index: number): number {
  return start + index * width;
}

/** The bucket that a time is in; `undefined` outside of all. */
export function bucketAt({ start, width, count }: Buckets, time: number): number | undefined {
  const index = Math.floor((time - start) / width);
  return index >= 0 && index < count ? index : undefined;
}

/** The markers in a bucket. */
export function markersIn(buckets: Buckets, markers: readonly Marker[], index: number): Marker[] {
  return markers.filter(({ at }) => bucketAt(buckets, at) === index);
}
