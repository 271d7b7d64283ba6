import { median } from '../numbers.ts';

/** A figure of a comparison. */
export interface Figure<Sample> {
  readonly name: string;
  /** Returns the value of the figure in a round; `null` if it is unknown. */
  readonly of: (sample: Sample) => number | null;
  /** Direction in which the figure improves. A figure without a direction is printed, but not judged. */
  readonly better?: 'more' | 'less';
  /** Minimum difference of the medians that matters, relative to the previous median. */
  readonly tolerance: number;
  /** True if the figure is the same in all rounds, such as a size. */
  readonly exact?: boolean;
}

/** A figure of both executables, with one value per round. The list is empty if the figure is not available. */
export interface Row extends Pick<Figure<never>, 'name' | 'better' | 'tolerance' | 'exact'> {
  readonly group: string;
  readonly previous: readonly number[];
  readonly current: readonly number[];
}

export type Verdict = 'faster' | 'slower' | 'within noise' | 'not available' | 'not judged';

/**
 * Minimum number of rounds for a judgement. All rounds of one executable can be worse by chance: in 1 of 20 rows with
 * three rounds, in 1 of 70 with four rounds, and in 1 of 252 with five rounds.
 */
const fewestRounds = 4;

/**
 * Judges a row. A difference is more than noise if all rounds of one executable are better than all rounds of the
 * other. In addition, the medians must differ by more than the tolerance. For a cost, `faster` means a lower value.
 */
export function judge({ better, tolerance, exact, previous, current }: Row): Verdict {
  if (previous.length === 0 || current.length === 0) return 'not available';
  if (better === undefined) return 'not judged';
  if (exact !== true && Math.min(previous.length, current.length) < fewestRounds) return 'not judged';
  const change = median(current) / median(previous) - 1;
  if (!areApart(previous, current) || Math.abs(change) <= tolerance) return 'within noise';
  return change > 0 === (better === 'more') ? 'faster' : 'slower';
}

function areApart(some: readonly number[], others: readonly number[]): boolean {
  return Math.min(...some) > Math.max(...others) || Math.max(...some) < Math.min(...others);
}

/** True if the new executable is slower by more than noise, or lacks a figure. */
export function isLoss(row: Row): boolean {
  return row.current.length === 0 || judge(row) === 'slower';
}

/**
 * Returns the rows of a group. If a side has no samples, its figures are not available. A figure has no row if this
 * machine does not report it, or if it is always 0.
 */
export function createRows<Sample>(
  group: string,
  figures: readonly Figure<Sample>[],
  [previous, current]: readonly [readonly Sample[], readonly Sample[]],
): Row[] {
  const rows = figures.map(({ of, ...figure }) => {
    const values = (samples: readonly Sample[]) => samples.map(of).filter((value) => value !== null);
    return { group, ...figure, previous: values(previous), current: values(current) };
  });
  const unmeasured = previous.length + current.length === 0;
  return rows.filter((row) => unmeasured || [...row.previous, ...row.current].some((value) => value !== 0));
}
