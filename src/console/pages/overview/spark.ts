/** A sparkline as paths of an SVG whose viewBox is `0 0 100 24`. */
export interface Spark {
  /** The finished buckets. */
  readonly path: string;
  /** From the last finished bucket to the unfinished one; empty when all are finished. */
  readonly soFar: string;
}

const [width, height, margin] = [100, 24, 2];

/** @param unfinished whether the last bucket is */
export function sparkOf(values: readonly number[], unfinished: boolean): Spark {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const points = values.map(
    (value, index) =>
      `${round(index * step)} ${round(height - margin - (value / most) * (height - 2 * margin))}`,
  );
  const finished = unfinished ? points.slice(0, -1) : points;
  return {
    path: finished.length > 0 ? `M${finished.join('L')}` : '',
    soFar: unfinished && points.length > 1 ? `M${points.slice(-2).join('L')}` : '',
  };
}

/**
 * How much more, or less, the second half of a sparkline has than the first, as a share: 0.5 is half as much again. An
 * unfinished bucket does not count.
 * @returns `undefined` when the first half has nothing
 */
export function trendOf(values: readonly number[], unfinished: boolean): number | undefined {
  const finished = unfinished ? values.slice(0, -1) : values;
  const half = Math.floor(finished.length / 2);
  const sum = (part: readonly number[]) => part.reduce((total, value) => total + value, 0);
  const [before, after] = [sum(finished.slice(0, half)), sum(finished.slice(finished.length - half))];
  return before === 0 ? undefined : after / before - 1;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
