import { type Buckets, startOf } from './series.ts';

/** Where a reader is in a chart. */
export interface ChartCursor {
  /** The bucket that is looked at. */
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
 * Where a key leads. With Shift a range is selected, and without it the selection ends. From nowhere each key but Home leads to
 * the last bucket.
 * @returns `undefined` when the key means nothing here
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
  const next = step(at ?? count, count);
  const within = Math.max(0, Math.min(count - 1, next));
  return { at: within, anchor: shift ? (anchor ?? at ?? within) : undefined };
}

/** The first and the last bucket that are selected: with no range, the one that is looked at. */
export function selected({ at, anchor }: ChartCursor): readonly [number, number] | undefined {
  if (at === undefined) return undefined;
  return [Math.min(at, anchor ?? at), Math.max(at, anchor ?? at)];
}

/** The time from the beginning of one bucket to the end of another, Unix seconds. */
export function spanOf(buckets: Buckets, first: number, last: number): readonly [number, number] {
  return [startOf(buckets, first), startOf(buckets, last + 1)];
}

/** The first and the last bucket that a span of time touches, Unix seconds. */
export function bucketsWithin(
  { start, width, count }: Buckets,
  from: number,
  to: number,
): readonly [number, number] {
  const index = (time: number) => Math.max(0, Math.min(count - 1, Math.floor((time - start) / width)));
  return [index(from), index(to)];
}
