import { upperTail } from './distributions.ts';

/** The number of users or checks of a variant, and its intended weight; 0 for an unplanned variant. */
export interface Side extends Share {
  readonly variant: string;
}

/** A measured split, with the result of its check. */
export interface MeasuredSplit {
  readonly intended: Readonly<Record<string, number>>;
  /** Shares of all variants with users or checks; `null` if no variant has users or checks. */
  readonly actual: Readonly<Record<string, number>> | null;
  /** p-value of the intended split; `null` if there are too few users. */
  readonly p: number | null;
  readonly state: 'ok' | 'off' | 'unknown';
}

/** Minimum data for checking a split. With less data, the test could not separate a fault from chance. */
const least = { users: 100, each: 5, checks: 1000 };

const significant = 0.001;
/** Minimum deviation that matters. With many users, smaller deviations can be significant, but they are negligible. */
const practical = { points: 0.01, part: 0.1 };
/** Minimum deviation of a split of checks. It is larger, because the checks of one user are not independent. */
const pointsOfChecks = 0.05;

/**
 * Compares the users of each variant with the intended split. The state is `off` if the deviation is significant and
 * large enough to matter. The state is also `off` if unplanned variants have more than a hundredth of the users.
 * @param sketchError relative standard error of each count
 */
export function checkUsers(sides: readonly Side[], sketchError: number): MeasuredSplit {
  const { shares, intendedSides, intended, actual, all } = computeShares(sides);
  const weights = intendedSides.reduce((sum, { weight }) => sum + weight, 0);
  const given = intendedSides.reduce((sum, { users }) => sum + users, 0);
  const isEnough = intendedSides.every(({ weight }) => (given * weight) / weights >= least.each);
  if (all < least.users || !isEnough) return { intended, actual, p: null, state: 'unknown' };
  const p = intendedSides.length > 1 ? sampleRatioP(intendedSides, sketchError) : 1;
  const isFar = shares.some(
    ({ wanted, has }) =>
      Math.abs(has - wanted) >= practical.points || Math.abs(has - wanted) >= practical.part * wanted,
  );
  const others = shares.filter(({ wanted }) => wanted === 0).reduce((sum, { has }) => sum + has, 0);
  const isOff = (p < significant && isFar) || others >= practical.points;
  return { intended, actual, p, state: isOff ? 'off' : 'ok' };
}

/**
 * Compares the checks of each variant with the intended split, if users are not counted. One user can cause many
 * checks, so only large deviations count.
 */
export function checkChecks(sides: readonly Side[]): MeasuredSplit {
  const { shares, intended, actual, all } = computeShares(sides);
  if (all < least.checks) return { intended, actual, p: null, state: 'unknown' };
  const isOff = shares.some(({ wanted, has }) => Math.abs(has - wanted) >= pointsOfChecks);
  return { intended, actual, p: null, state: isOff ? 'off' : 'ok' };
}

function computeShares(sides: readonly Side[]) {
  const all = sides.reduce((sum, { users }) => sum + users, 0);
  const weights = sides.reduce((sum, { weight }) => sum + weight, 0);
  const shares = sides.map(({ variant, users, weight }) => ({
    variant,
    wanted: weight / weights,
    has: all === 0 ? 0 : users / all,
  }));
  const intendedSides = sides.filter(({ weight }) => weight > 0);
  const intended = Object.fromEntries(
    shares.filter(({ wanted }) => wanted > 0).map(({ variant, wanted }) => [variant, wanted]),
  );
  const actual = all === 0 ? null : Object.fromEntries(shares.map(({ variant, has }) => [variant, has]));
  return { shares, intendedSides, intended, actual, all };
}

/** The users of a variant, and its declared weight. */
interface Share {
  readonly users: number;
  readonly weight: number;
}

/**
 * Returns the probability of a split at least as uneven as this split (Pearson's χ² test). Assumes that users are
 * assigned by the weights. Counts come from sketches. The variance of each count is therefore the expected count plus
 * the square of the sketch's error.
 * @param sketchError relative standard error of each count; 0 for the plain test
 */
export function sampleRatioP(shares: readonly Share[], sketchError: number): number {
  const weights = shares.reduce((sum, { weight }) => sum + weight, 0);
  const users = shares.reduce((sum, { users }) => sum + users, 0);
  const sides = shares.map(({ users: seen, weight }) => {
    const expected = (users * weight) / weights;
    return { seen, share: weight / weights, variance: expected + (sketchError * expected) ** 2 };
  });
  // Estimates the number of all users from the counts, weighted by their precision.
  const all =
    sides.reduce((sum, { seen, share, variance }) => sum + (share * seen) / variance, 0) /
    sides.reduce((sum, { share, variance }) => sum + share ** 2 / variance, 0);
  const statistic = sides.reduce((sum, { seen, share, variance }) => sum + (seen - share * all) ** 2 / variance, 0);
  return upperTail(statistic, shares.length - 1);
}
