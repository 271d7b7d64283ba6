import { upperTail } from './distributions.ts';

/** The users of a side, and its declared weight. */
export interface Share {
  readonly users: number;
  readonly weight: number;
}

/**
 * The probability of a split at least as uneven as this one, if users are assigned by the weights (Pearson's χ² test). Counts
 * come from sketches. The variance of each is therefore the expected count plus the square of the sketch's error.
 * @param sketchError relative standard error of each count; 0 for the plain test
 */
export function sampleRatioP(shares: readonly Share[], sketchError: number): number {
  const weights = shares.reduce((sum, { weight }) => sum + weight, 0);
  const users = shares.reduce((sum, { users }) => sum + users, 0);
  const sides = shares.map(({ users: seen, weight }) => {
    const expected = (users * weight) / weights;
    return { seen, share: weight / weights, variance: expected + (sketchError * expected) ** 2 };
  });
  // The number of all users, estimated from the counts weighted by their precision.
  const all =
    sides.reduce((sum, { seen, share, variance }) => sum + (share * seen) / variance, 0) /
    sides.reduce((sum, { share, variance }) => sum + share ** 2 / variance, 0);
  const statistic = sides.reduce(
    (sum, { seen, share, variance }) => sum + (seen - share * all) ** 2 / variance,
    0,
  );
  return upperTail(statistic, shares.length - 1);
}
