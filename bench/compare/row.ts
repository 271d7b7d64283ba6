import { median } from '../numbers.ts';

/** A figure that is compared. */
export interface Figure<Sample> {
  readonly name: string;
  /** Returns the value in a round; `null` if it is unknown. */
  readonly of: (sample: Sample) => number | null;
  /** The better direction. A figure without a direction is printed, but not judged. */
  readonly better?: 'more' | 'less';
  /** Minimum difference of the medians that matters, as a share of the previous median. */
  readonly tolerance: number;
  /** True if the figure is the same in each round, such as a size. */
  readonly exact?: boolean;
}

/** A figure of both executables: one value per round, or no value if it is not available. */
export interface Row extends Pick<Figure<never>, 'name' | 'better' | 'tolerance' | 'exact'> {
  readonly group: string;
  readonly previous: readonly number[];
  readonly current: readonly number[];
}

export type Verdict = 'faster' | 'slower' | 'within noise' | 'not available' | 'not judged';

/**
 * Minimum number of judged rounds. By chance, all rounds of one executable are worse in 1 of 20 rows with three rounds,
 * in 1 of 70 with four, and in 1 of 252 with five.
 */
const fewestRounds = 4;

/**
 * Judges a row. A difference is more than noise if every round of one executable is better than every round of the other, and
 * the medians differ by more than the tolerance. For a figure that costs something, `faster` means less.
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

/** True if the new executable is slower beyond noise, or lacks a figure. */
export function isLoss(row: Row): boolean {
  return row.current.length === 0 || judge(row) === 'slower';
}

/**
 * Returns the rows of a group. A side without samples is not available. A figure that this machine does not report, or
 * that is always 0, has no row.
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
