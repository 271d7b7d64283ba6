import { hashIdentity, type UserHash } from '../storage/aggregate/user-hash.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { type DemoFlag, flags } from './flags.ts';
import { atShare, chanceOf, type Random, type Shares } from './random.ts';
import { Rhythm } from './rhythm.ts';
import type { Program } from './senders.ts';

/** A visitor of the shop. */
export interface Visitor extends UserHash {
  readonly number: number;
  readonly identity: string;
  /** Whether they come with the app; otherwise with a browser. */
  readonly hasApp: boolean;
}

/** A flag that programs ask for in an environment on a day. */
export interface ActiveFlag {
  readonly flag: DemoFlag;
  readonly index: number;
  readonly shares: Shares;
  /** How much more or less it is used and viewed on this day. */
  readonly mood: number;
}

/** A flag that a visitor meets, who gets one of its variants. */
export interface MetFlag extends ActiveFlag {
  readonly variant: string;
}

/** What was counted of one variant. */
export interface VariantCounts {
  readonly feature: string;
  readonly variant: string;
  readonly counts: readonly [checks: number, used: number, viewed: number];
}

/** Everyone who ever visits, and the visitors of an average day. */
const population = 8000;
const perDay = 2000;

/** Coprime with the population: each day goes through everyone in an order of its own. */
const stride = 3571;

/** Flags and variants come to the other environments some days earlier; their servers report less often. */
const daysAhead = 3;
const quieter = 12;

/** What happens in the shop: the history and the live traffic are both made of this. Days are counted from the epoch. */
export class Story {
  readonly seed: number;
  readonly rhythm: Rhythm;
  readonly #everyone: readonly Visitor[];
  #latest: { readonly day: number; readonly visitors: readonly Visitor[] } | undefined;

  constructor(seed: number, nowMinute: number) {
    this.seed = seed;
    this.rhythm = new Rhythm(seed, nowMinute);
    this.#everyone = Array.from({ length: population }, (_, number) => {
      const identity = `customer-${number + 1}`;
      return { number, identity, hasApp: chanceOf(seed, number, 2) < 0.3, ...hashIdentity(identity) };
    });
  }

  /** The flags that programs ask for in an environment on a day. */
  activeFlags(environment: string, day: number): ActiveFlag[] {
    const lead = environment === 'Production' ? 0 : daysAhead;
    const daysAgo = this.rhythm.today - day;
    return flags.flatMap((flag, index) => {
      const { only = [environment], came = Number.POSITIVE_INFINITY, left = -1 } = flag;
      const isActive = only.includes(environment) && daysAgo <= came + lead && daysAgo >= left;
      if (!isActive) return [];
      return [{ flag, index, shares: flag.shares(daysAgo - lead), mood: this.rhythm.mood(day, index) }];
    });
  }

  /** Packets or reports that a program sends. Visitors send more when there are more of them, a server as long as it runs. */
  messagesPerMinute({ sends, perMinute }: Program, environment: string, minute: number): number {
    const traffic = this.rhythm.at(environment, minute);
    if (sends === 'packets') return perMinute * traffic;
    return traffic === 0 ? 0 : perMinute / (environment === 'Production' ? 1 : quieter);
  }

  /** Counts of each variant. @param meanOf checks of a flag, on average */
  *counts(
    active: Iterable<ActiveFlag>,
    meanOf: (flag: DemoFlag) => number,
    random: Random,
  ): Generator<VariantCounts> {
    for (const { flag, shares, mood } of active) {
      const mean = meanOf(flag);
      if (mean === 0) continue;
      for (const variant in shares) {
        const checks = random.poisson(mean * shares[variant]!);
        if (checks === 0) continue;
        const used = typeof flag.used === 'number' ? flag.used : flag.used[variant]!;
        const times = (per100: number) => random.binomial(checks, Math.min(1, (per100 * mood) / 100));
        yield { feature: flag.name, variant, counts: [checks, times(used), times(flag.viewed)] };
      }
    }
  }

  /** Production's visitors of a day up to a minute (since the epoch), in the order in which they come. */
  visitors(day: number, minute: number): readonly Visitor[] {
    if (this.#latest?.day !== day) this.#latest = { day, visitors: this.#visitorsOf(day) };
    const { visitors } = this.#latest;
    return visitors.slice(0, Math.floor(visitors.length * Math.min(1, minute / minutesPerDay - day)));
  }

  /** The flags that a visitor meets on a day, each with the variant that they get. */
  *met({ number, hasApp }: Visitor, active: readonly ActiveFlag[], day: number): Generator<MetFlag> {
    for (const each of active) {
      const { flag, index, shares } = each;
      const isAsked = (hasApp ? flag.asks.app : flag.asks.web) !== undefined;
      if (isAsked && chanceOf(number, index, day) < flag.reach) {
        const variant = atShare(shares, chanceOf(number, index, this.seed));
        yield { ...each, variant, shares: { [variant]: 1 } };
      }
    }
  }

  #visitorsOf(day: number): Visitor[] {
    const start = Math.floor(chanceOf(this.seed, day, 3) * population);
    const traffic = this.rhythm.ofDay(day);
    return this.#everyone
      .map((_, step) => this.#everyone[(start + step * stride) % population]!)
      .filter(({ number }) => chanceOf(number, day, this.seed) < this.#habit(number) * traffic);
  }

  /** The chance that someone comes on a day: a few come nearly every day, most seldom. */
  #habit(visitor: number): number {
    return ((perDay / population) * (0.12 + 4 * chanceOf(this.seed, visitor, 4) ** 3)) / 1.12;
  }
}
