import { seededRandom } from '../test/support/random.ts';

/** Pseudo-random numbers. The same seed gives the same sequence. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Returns an integer from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, order: this.#random() }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item);
  }

  /** Returns new dice for a concurrent task. */
  fork(): Dice {
    return new Dice(this.between(0, 2 ** 32 - 1));
  }
}
