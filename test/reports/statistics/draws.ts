import { seededRandom } from '../../support/random.ts';

/** Reproducible random numbers from several distributions. */
export interface Draws {
  /** Returns a number from 0 to 1, excluding 1. */
  uniform(): number;
  normal(): number;
  beta(a: number, b: number): number;
  poisson(mean: number): number;
  binomial(count: number, probability: number): number;
}

/** For more trials than this, the normal distribution approximates the binomial distribution. */
const many = 30;

/** Creates a random number generator. */
export function createDraws(seed: number): Draws {
  const uniform = seededRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const rounded = (mean: number, variance: number, most: number) =>
    Math.max(0, Math.min(most, Math.round(mean + Math.sqrt(variance) * normal())));
  return {
    uniform,
    normal,
    beta(a, b) {
      const x = gamma(a, uniform, normal);
      const y = gamma(b, uniform, normal);
      return x / (x + y);
    },
    poisson(mean) {
      if (mean > many) return rounded(mean, mean, Number.POSITIVE_INFINITY);
      const end = Math.exp(-mean);
      let count = -1;
      for (let product = 1; product > end; product *= uniform()) count += 1;
      return count;
    },
    binomial(count, probability) {
      if (count > many) return rounded(count * probability, count * probability * (1 - probability), count);
      let hits = 0;
      for (let left = count; left > 0; left--) if (uniform() < probability) hits += 1;
      return hits;
    },
  };
}

/** Draws a number from a gamma distribution (Marsaglia and Tsang, 2000). */
function gamma(shape: number, uniform: () => number, normal: () => number): number {
  if (shape < 1) return gamma(shape + 1, uniform, normal) * uniform() ** (1 / shape);
  const d = shape - 1 / 3;
  for (;;) {
    const x = normal();
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}
