/** Mean above which counts are drawn from a normal distribution. */
const largeMean = 30;

/** A seeded random number generator (mulberry32). A seed always produces the same demo. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return mix(this.#state);
  }

  /** Returns a normally distributed number with mean 0 and standard deviation 1. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  poisson(mean: number): number {
    if (mean > largeMean) return this.#around(mean, Math.sqrt(mean));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.next(); product > limit; product *= this.next()) count += 1;
    return count;
  }

  binomial(count: number, chance: number): number {
    const mean = count * chance;
    if (count > 2 * largeMean) return Math.min(count, this.#around(mean, Math.sqrt(mean * (1 - chance))));
    let found = 0;
    for (let each = 0; each < count; each += 1) if (this.next() < chance) found += 1;
    return found;
  }

  #around(mean: number, deviation: number): number {
    return Math.max(0, Math.round(mean + deviation * this.normal()));
  }
}

/** Hashes three numbers to a number from 0 (inclusive) to 1 (exclusive). */
export function hashToChance(a: number, b: number, c = 0): number {
  return mix((Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77) ^ Math.imul(c, 0xc2b2ae3d)) >>> 0);
}

/** The share of each name; the sum is 1. */
export type Shares = Readonly<Record<string, number>>;

/** Returns the name at a point from 0 to 1. The shares of the names are consecutive sections of this range. */
export function atShare(shares: Shares, point: number): string {
  let rest = point;
  let name = '';
  for (name in shares) {
    rest -= shares[name]!;
    if (rest < 0) break;
  }
  return name;
}

function mix(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}
