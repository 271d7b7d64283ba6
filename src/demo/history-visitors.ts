import { digestWords } from '../storage/commit/digest.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { digestIdentity } from '../storage/lmdb/instances.ts';
import type { DemoFlag, Shares } from './flags.ts';
import type { HistoryPlace } from './history-counts.ts';
import type { Visitor } from './people.ts';
import type { Shop } from './shop.ts';
import { numberedFlags } from './story.ts';

/** In seconds of a day. */
const noon = 43_200;

/** Visitors whose variants the history keeps: the first customers of the shop, for some days. */
const knownVisitors = 300;
const knownDays = 30;

/** What the people's records are kept under. */
interface Digests {
  readonly shop: Shop;
  readonly secret: Buffer;
}

/** A flag that visitors meet, with its variants in the order of their shares. */
interface MetFlag {
  readonly index: number;
  readonly flag: DemoFlag;
  readonly shares: Shares;
  readonly variants: Map<string, { readonly ref: number; visitors: number }>;
}

/**
 * Adds the visitors of a day by the variants that they got.
 * @param until the minute (since the epoch) before which they came
 * @returns the shares of the variants, by the number of the flag
 */
export function addVisitors(
  place: HistoryPlace,
  day: number,
  until: number,
  digests: Digests,
): ReadonlyMap<number, Shares> {
  const { story, batch, series } = place;
  const { people, rhythm } = story;
  const asked = flagsOf(place, day);
  const minute = day * minutesPerDay;
  const seconds = Math.min(until * 60, day * 86_400 + noon);
  const visitors = people.visitorsOf(day, rhythm.busyness(day));
  const elapsed = Math.min(1, (until - minute) / minutesPerDay);
  for (const visitor of visitors.slice(0, Math.floor(visitors.length * elapsed))) {
    batch.users.add(series.whole, minute, visitor.high, visitor.low);
    const isKnown = visitor.number < knownVisitors && day > rhythm.today - knownDays;
    if (isKnown) beginExposures(place, visitor, digests);
    for (const { flag, index, shares, variants } of asked) {
      if (!people.meets(visitor, flag, index, day)) continue;
      const variant = variants.get(people.variantFor(visitor, index, shares))!;
      variant.visitors += 1;
      batch.users.add(variant.ref, minute, visitor.high, visitor.low);
      if (isKnown) addExposure(place, flag, variant.ref, seconds);
    }
  }
  return new Map(asked.filter(isMet).map((met) => [met.index, sharesIn(met)]));
}

function flagsOf({ story, batch, series, environment }: HistoryPlace, day: number): MetFlag[] {
  return numberedFlags.flatMap(([index, flag]) => {
    if (flag.reach === undefined || !story.isAsked(flag, environment.name, day)) return [];
    const shares = story.sharesOf(flag, environment.name, day);
    const names = Object.keys(shares).filter((name) => shares[name]! > 0);
    const variants = names.map((name) => {
      return [name, { ref: series.variant(flag.name, name, batch)!, visitors: 0 }] as const;
    });
    return [{ index, flag, shares, variants: new Map(variants) }];
  });
}

function beginExposures({ batch }: HistoryPlace, { identity }: Visitor, { shop, secret }: Digests): void {
  batch.exposures.addPerson(digestWords(digestIdentity(secret, shop.application.number, identity)));
}

/** A visitor checks a flag a few times a day. */
function addExposure(
  { batch, random }: HistoryPlace,
  { used, viewed }: DemoFlag,
  ref: number,
  seconds: number,
): void {
  const checks = 1 + random.poisson(3);
  const uses = used === undefined ? 0 : random.binomial(checks, 0.3);
  const views = viewed === undefined ? 0 : random.binomial(checks, 0.5);
  batch.exposures.add(ref, seconds, checks, uses, views);
}

function isMet({ variants }: MetFlag): boolean {
  return [...variants.values()].some(({ visitors }) => visitors > 0);
}

function sharesIn({ variants }: MetFlag): Shares {
  const all = [...variants.values()].reduce((sum, { visitors }) => sum + visitors, 0);
  return Object.fromEntries(Array.from(variants, ([name, { visitors }]) => [name, visitors / all]));
}
