import { type Hash64, hashIdentity } from '../storage/aggregate/user-hash.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { type DemoFeature, features } from './features.ts';
import type { BrokenSender, Program } from './programs.ts';
import { atShare, hashToChance, Random, type Shares } from './random.ts';

export const historyDays = 90;

/** A visitor of the shop, in the app or in a browser. */
export interface Visitor extends Hash64 {
  readonly number: number;
  readonly identity: string;
  readonly hasApp: boolean;
}

/** A flag that programs check in an environment on a day. */
export interface ActiveFeature {
  readonly feature: DemoFeature;
  readonly index: number;
  readonly shares: Shares;
  /** Factor for the uses and views of the flag on this day. */
  readonly mood: number;
}

/** The counts of one variant. */
export interface VariantCounts {
  readonly feature: string;
  readonly variant: string;
  readonly counts: readonly [checks: number, used: number, viewed: number];
}

/** Visitors whose identities a user of the demo can look up. They come every day, and have the numbers 1, 2 and 3. */
export const samplePeople = ['ada@example.com', 'grace@example.com', 'linus@example.com'] as const;

/** Number of all visitors, and of visitors on an average day. */
const population = 8000;
const perDay = 2000;

/**
 * Distance in the list between two consecutive visitors of a day. All visitors are reached, because the distance has no
 * common factor with their number.
 */
const stride = 3571;

/** Number of days by which other environments get flags and variants before Production. */
const daysAhead = 3;
const quieter = 12;

/** Minute at which a day of the shop begins. Traffic is lowest then, so charts show no step. */
const quietest = 5 * 60;

/** Hour (UTC) in which the payment provider was down. */
const outage = { daysAgo: 9, hour: 14 } as const;

/** Generates both the history and the live traffic. Days and minutes are counted from the epoch. */
export class Story {
  readonly seed: number;
  readonly today: number;
  readonly #everyone: readonly Visitor[];
  #latest: { readonly day: number; readonly visitors: readonly Visitor[] } | undefined;

  constructor(seed: number, nowMinute: number) {
    this.seed = seed;
    this.today = Math.floor(nowMinute / minutesPerDay);
    this.#everyone = Array.from({ length: population }, (_, number) => {
      const identity = samplePeople[number - 1] ?? `customer-${number + 1}`;
      return { number, identity, hasApp: hashToChance(seed, number, 2) < 0.3, ...hashIdentity(identity) };
    });
  }

  /** Returns the traffic of an environment in a minute, relative to the average of Production. */
  traffic(environment: string, minute: number): number {
    const day = Math.floor(minute / minutesPerDay);
    const hour = (minute % minutesPerDay) / 60;
    if (environment !== 'Production') return officeHours(day, hour) * (environment === 'Staging' ? 0.012 : 0.005);
    const isDown = day === this.today - outage.daysAgo && Math.floor(hour) === outage.hour;
    const ofDay = this.#computeTraffic(Math.floor((minute - quietest) / minutesPerDay));
    return ofDay * evening(hour) * (isDown ? 0.03 : 1);
  }

  activeFeatures(environment: string, day: number): ActiveFeature[] {
    const lead = environment === 'Production' ? 0 : daysAhead;
    const daysAgo = this.today - day;
    return features.flatMap((feature, index) => {
      const { only = [environment], since = Number.POSITIVE_INFINITY, until = -1 } = feature;
      if (!only.includes(environment) || daysAgo > since + lead || daysAgo < until) return [];
      const mood = Math.exp(0.08 * this.#spread(day, 100 + index));
      return [{ feature, index, shares: feature.shares(daysAgo - lead), mood }];
    });
  }

  /**
   * Returns a program's messages per minute. Packets grow with the traffic. Servers send reports at a constant rate.
   */
  messagesPerMinute({ sends, perMinute }: Program, environment: string, minute: number): number {
    const traffic = this.traffic(environment, minute);
    if (sends === 'packets') return perMinute * traffic;
    return traffic === 0 ? 0 : perMinute / (environment === 'Production' ? 1 : quieter);
  }

  /**
   * Returns the number of a misconfigured program's messages per minute. A misconfigured web page sends one message for
   * each visit.
   */
  refusedPerMinute({ perHour, source }: BrokenSender, minute: number): number {
    const traffic = source.route === 'telemetry' ? this.traffic('Production', minute) : 1;
    return (perHour * traffic) / 60;
  }

  /** Draws the random counts of each variant. @param computeMean returns the mean number of checks of a flag */
  *counts(
    active: Iterable<ActiveFeature>,
    computeMean: (feature: DemoFeature) => number,
    random: Random,
  ): Generator<VariantCounts> {
    for (const { feature, shares, mood } of active) {
      const mean = computeMean(feature);
      if (mean === 0) continue;
      for (const variant in shares) {
        const checks = random.poisson(mean * shares[variant]!);
        if (checks === 0) continue;
        const used = typeof feature.used === 'number' ? feature.used : feature.used[variant]!;
        const times = (per100: number) => random.binomial(checks, Math.min(1, (per100 * mood) / 100));
        yield { feature: feature.name, variant, counts: [checks, times(used), times(feature.viewed)] };
      }
    }
  }

  /** Returns the visitors of Production from the start of a day to a minute, in the order of their visits. */
  visitors(day: number, minute: number): readonly Visitor[] {
    if (this.#latest?.day !== day) this.#latest = { day, visitors: this.#listVisitors(day) };
    const { visitors } = this.#latest;
    return visitors.slice(0, Math.floor(visitors.length * Math.min(1, minute / minutesPerDay - day)));
  }

  /** Yields the flags that are checked for a visitor on a day, each with only the visitor's variant. */
  *met(visitor: Visitor, active: readonly ActiveFeature[], day: number) {
    for (const each of active) {
      const variant = this.variantFor(visitor, each, day);
      if (variant !== undefined) yield { ...each, shares: { [variant]: 1 } };
    }
  }

  /** Returns the variant of a flag for a visitor on a day; `undefined` if the flag is not checked for the visitor. */
  variantFor({ number, hasApp }: Visitor, { feature, index, shares }: ActiveFeature, day: number) {
    const isAsked = (hasApp ? feature.asks.app : feature.asks.web) !== undefined;
    if (!isAsked || hashToChance(number, index, day) >= feature.reach) return undefined;
    return atShare(shares, hashToChance(number, index, this.seed));
  }

  /** Lists the visitors of a day. A few visitors come nearly every day, and most visitors come seldom. */
  #listVisitors(day: number): Visitor[] {
    const start = Math.floor(hashToChance(this.seed, day, 3) * population);
    const mean = (this.#computeTraffic(day) * perDay) / population;
    const chance = (number: number) => (mean * (0.12 + 4 * hashToChance(this.seed, number, 4) ** 3)) / 1.12;
    return this.#everyone
      .map((_, step) => this.#everyone[(start + step * stride) % population]!)
      .filter(
        ({ number }) => samplePeople[number - 1] !== undefined || hashToChance(number, day, this.seed) < chance(number),
      );
  }

  /** Returns the traffic of Production on a day, relative to the average. */
  #computeTraffic(day: number): number {
    const growth = 1 - (0.22 * (this.today - day)) / historyDays;
    return growth * (isWeekend(day) ? 0.68 : 1.09) * Math.exp(0.05 * this.#spread(day, 1));
  }

  #spread(day: number, salt: number): number {
    return new Random(hashToChance(this.seed, day, salt) * 2 ** 32).normal();
  }
}

/** Returns the traffic in an hour, relative to the average. Traffic is highest in the evening, and lowest at 4:00. */
function evening(hour: number): number {
  const wave = (peak: number) => Math.cos((2 * Math.PI * (hour - peak)) / 24);
  return 1 + 0.72 * wave(18) + 0.16 * Math.cos((4 * Math.PI * (hour - 12)) / 24);
}

function officeHours(day: number, hour: number): number {
  if (isWeekend(day) || hour < 7 || hour >= 18) return 0;
  return hour >= 11 && hour < 12 ? 1.2 : 2.4;
}

/** True for Saturday and Sunday. Day 0 of the epoch was a Thursday. */
function isWeekend(day: number): boolean {
  return (day + 4) % 7 === 6 || (day + 4) % 7 === 0;
}
