/*
 * src/reports/statistics: tests whether chance can explain a result. difference.ts compares two rates day by day.
 * compare.ts compares all variants of a feature. split.ts checks a split. docs/semantics.md describes the methods and
 * their references.
 */

/** Returns the probability that a variable of Student's t distribution is at least as far from 0 as `t`. */
export function twoSidedTail(t: number, degreesOfFreedom: number): number {
  return incompleteBeta(degreesOfFreedom / (degreesOfFreedom + t * t), degreesOfFreedom / 2, 0.5);
}

/**
 * Returns the two-sided critical value of Student's t distribution: the distance from 0 that is exceeded with
 * probability `alpha`.
 * @param alpha probability above 0, at most 1
 */
export function criticalValue(alpha: number, degreesOfFreedom: number): number {
  let high = 1;
  while (twoSidedTail(high, degreesOfFreedom) > alpha) high *= 2;
  let low = 0;
  while (high - low > 1e-12 * high) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (twoSidedTail(middle, degreesOfFreedom) > alpha) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the probability that a variable of the χ² distribution is at least `x`. */
export function upperTail(x: number, degreesOfFreedom: number): number {
  return upperGamma(degreesOfFreedom / 2, x / 2);
}

/** Coefficients of Lanczos' approximation for g = 7 (P. Godfrey, 2001): 15 digits. */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** Returns the logarithm of Γ(x), x > 0. */
function logGamma(x: number): number {
  const y = x - 1;
  const t = y + 7.5;
  const sum = lanczos.reduce(
    (sum, coefficient, index) => sum + (index === 0 ? coefficient : coefficient / (y + index)),
    0,
  );
  return 0.5 * Math.log(2 * Math.PI) + (y + 0.5) * Math.log(t) - t + Math.log(sum);
}

const maxTerms = 10_000;
const tiny = 1e-300;
const precision = 1e-15;

/** Computes the regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast only for x below the mean (DLMF 8.17.4).
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const logBeta = logGamma(a) + logGamma(b) - logGamma(a + b);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta) / a;
  const coefficient = (index: number) => {
    const m = Math.floor(index / 2);
    return index % 2 === 0
      ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
      : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
  };
  return front / continuedFraction(1, (index) => [coefficient(index), 1]);
}

/** Computes the upper incomplete gamma function Q(a, x), by its series (DLMF 8.7.1) or fraction (8.9.2). */
function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x >= a + 1) return front / continuedFraction(x + 1 - a, (index) => [-index * (index - a), x + 1 - a + 2 * index]);
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < maxTerms && term > sum * precision; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return 1 - front * sum;
}

/**
 * Computes b₀ + a₁/(b₁ + a₂/(b₂ + …)) by the modified method of Lentz (Thompson and Barnett, 1986).
 * @param terms returns aᵢ and bᵢ, from 1
 */
function continuedFraction(first: number, terms: (index: number) => readonly [a: number, b: number]): number {
  let value = first || tiny;
  let c = value;
  let d = 0;
  for (let index = 1; index < maxTerms; index++) {
    const [a, b] = terms(index);
    d = 1 / (b + a * d || tiny);
    c = b + a / c || tiny;
    value *= c * d;
    if (Math.abs(c * d - 1) < precision) break;
  }
  return value;
}
