import { hashIdentity, type UserHash } from '../storage/aggregate/user-hash.ts';
import type { DemoFlag, Shares } from './flags.ts';
import { chanceOf } from './random.ts';

/** A visitor of the made-up shop. */
export interface Visitor extends UserHash {
  readonly number: number;
  /** By which the shop knows them. */
  readonly identity: string;
  /** Whether they come with the app; otherwise with a browser. */
  readonly hasApp: boolean;
}

/** Everyone who ever visits. */
const population = 8000;

/** Those of an average day. */
const perDay = 2000;

/** Coprime with the population: each day goes through everyone in an order of its own. */
const stride = 3571;

/** The visitors: who comes on which day, and which variant each of them gets. */
export class People {
  readonly #seed: number;
  readonly #all: readonly Visitor[];
  #latest: { readonly day: number; readonly visitors: readonly Visitor[] } | undefined;

  constructor(seed: number) {
    this.#seed = seed;
    this.#all = Array.from({ length: population }, (_, number) => {
      const identity = `customer-${number + 1}`;
      return { number, identity, hasApp: chanceOf(seed, number, 2) < 0.3, ...hashIdentity(identity) };
    });
  }

  /**
   * The visitors of a day (since the epoch) in the order in which they come.
   * @param busyness of the day, around 1
   */
  visitorsOf(day: number, busyness: number): readonly Visitor[] {
    if (this.#latest?.day !== day) this.#latest = { day, visitors: this.#find(day, busyness) };
    return this.#latest.visitors;
  }

  /** Whether a visitor meets a flag on a day. */
  meets({ number, hasApp }: Visitor, { asks, reach = 0 }: DemoFlag, flag: number, day: number): boolean {
    if ((hasApp ? asks.app : asks.web) === undefined) return false;
    return chanceOf(number, flag, day) < reach;
  }

  /** The variant that a visitor gets of a flag, the same whenever the shares are. */
  variantFor({ number }: Pick<Visitor, 'number'>, flag: number, shares: Shares): string {
    let rest = chanceOf(number, flag, this.#seed);
    let variant = '';
    for (const name in shares) {
      variant = name;
      rest -= shares[name]!;
      if (rest < 0) break;
    }
    return variant;
  }

  #find(day: number, busyness: number): Visitor[] {
    const start = Math.floor(chanceOf(this.#seed, day, 3) * population);
    const visitors: Visitor[] = [];
    for (let step = 0; step < population; step += 1) {
      const visitor = this.#all[(start + step * stride) % population]!;
      if (chanceOf(visitor.number, day, this.#seed) < this.#habit(visitor) * busyness) visitors.push(visitor);
    }
    return visitors;
  }

  /** How often someone comes: a few come nearly every day, most seldom. */
  #habit({ number }: Visitor): number {
    const chance = chanceOf(this.#seed, number, 4);
    return ((perDay / population) * (0.12 + 4 * chance ** 3)) / 1.12;
  }
}
