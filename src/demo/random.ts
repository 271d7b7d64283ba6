/** Chance that a seed decides: the same seed makes the same demo. */
export interface Random {
  /** From 0 up to 1, without 1. */
  next(): number;
  /** How many of something came that comes `mean` times on average. */
  poisson(mean: number): number;
  /** How many of `count` did what each does with this chance. */
  binomial(count: number, chance: number): number;
  /** Around 0, with a standard deviation of 1. */
  normal(): number;
}

/** Above this mean a normal distribution is close enough to that of counts. */
const largeMean = 30;

/** Makes a generator (mulberry32). @param seed any whole number */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    return mix(state);
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const around = (mean: number, deviation: number) => Math.max(0, Math.round(mean + deviation * normal()));
  const poisson = (mean: number) => {
    if (mean > largeMean) return around(mean, Math.sqrt(mean));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = next(); product > limit; product *= next()) count += 1;
    return count;
  };
  return {
    next,
    normal,
    poisson,
    binomial(count, chance) {
      const mean = count * chance;
      if (count > 2 * largeMean) return Math.min(count, around(mean, Math.sqrt(mean * (1 - chance))));
      let found = 0;
      for (let each = 0; each < count; each += 1) if (next() < chance) found += 1;
      return found;
    },
  };
}

/** A chance from 0 up to 1 that belongs to these three numbers: asked again, it is the same. */
export function chanceOf(a: number, b: number, c = 0): number {
  return mix((Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77) ^ Math.imul(c, 0xc2b2ae3d)) >>> 0);
}

function mix(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}
