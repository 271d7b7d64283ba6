import { upperTail } from './chi-square.ts';

/** How many people a side has, and the weight that it should have among all. */
export interface Share {
  readonly users: number;
  readonly weight: number;
}

/**
 * How probable it is that people are spread as unevenly as here, if they were split by the weights: Pearson's χ² test. People
 * are counted by sketches, so each count is off by more than chance alone, and the test allows for that: the variance of
 * a count is the expected count plus the square of the sketch's error.
 * @param sketchError relative standard error of each count; with 0 it is Pearson's test
 */
export function sampleRatioP(shares: readonly Share[], sketchError: number): number {
  const weights = shares.reduce((sum, { weight }) => sum + weight, 0);
  const users = shares.reduce((sum, { users }) => sum + users, 0);
  const sides = shares.map(({ users: seen, weight }) => {
    const expected = (users * weight) / weights;
    return { seen, share: weight / weights, variance: expected + (sketchError * expected) ** 2 };
  });
  // Of all people, the counts say this many: the more certain a count, the more it says.
  const all =
    sides.reduce((sum, { seen, share, variance }) => sum + (share * seen) / variance, 0) /
    sides.reduce((sum, { share, variance }) => sum + share ** 2 / variance, 0);
  const statistic = sides.reduce(
    (sum, { seen, share, variance }) => sum + (seen - share * all) ** 2 / variance,
    0,
  );
  return upperTail(statistic, shares.length - 1);
}
