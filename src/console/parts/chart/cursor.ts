import { type Buckets, indexAt, startOf } from './series.ts';

/** The position of a reader in a chart, as indexes of buckets. */
export interface ChartCursor {
  readonly at: number | undefined;
  /** The other end of a range that is being selected. */
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
 * The cursor after a key. Shift selects a range. From `nowhere`, every key but Home leads to the last bucket.
 * @returns `undefined` for a key without a meaning here
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

/** The first and the last selected bucket: the same one without a range. */
export function selected({ at, anchor }: ChartCursor): readonly [number, number] | undefined {
  if (at === undefined) return undefined;
  return [Math.min(at, anchor ?? at), Math.max(at, anchor ?? at)];
}

/** The time from the beginning of one bucket to the end of another, Unix ms. */
export function spanOf(buckets: Buckets, first: number, last: number): readonly [number, number] {
  return [startOf(buckets, first) * 1000, startOf(buckets, last + 1) * 1000];
}

/** The first and the last bucket of a time span, Unix seconds. */
export function bucketsWithin(buckets: Buckets, from: number, to: number): readonly [number, number] {
  const index = (time: number) => clampTo(buckets.count, indexAt(buckets, time));
  return [index(from), index(to)];
}

function clampTo(count: number, index: number): number {
  return Math.max(0, Math.min(count - 1, index));
}
