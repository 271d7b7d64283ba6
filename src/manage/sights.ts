import { seenOf } from '../store/seen.ts';
import { featureItself, seriesOf, surplusName } from '../store/series.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../store/snapshot.ts';
import type { UsageStore } from '../store/usage.ts';

/** When something was seen: Unix ms, to the minute. `null` when that is not known. */
export interface Sight {
  readonly firstSeenAt: number | null;
  readonly lastSeenAt: number | null;
}

export const neverSeen: Sight = { firstSeenAt: null, lastSeenAt: null };

/** When a feature was seen in one environment, and each variant of it that has a name. */
export interface FeatureSight extends Sight {
  readonly variants: ReadonlyMap<string, Sight>;
}

/**
 * Every feature that packets and reports have named in an environment, or `only` the one, without `__other__`. A feature was
 * seen when a variant or a metric of it was.
 */
export function readSights(
  store: UsageStore,
  environment: number,
  only?: string,
): Reading<ReadonlyMap<string, FeatureSight>> {
  return fromSnapshot(store.lmdb, function* (at) {
    const features = new Map<string, Map<string, Sight>>();
    const seen = yield* readSeries(store, environment, at);
    for (const { ordinal, name } of seriesOf(store, environment, at)) {
      yield;
      const [feature, variant] = name.length === 3 ? [name[1], name[2]] : name;
      if (variant === undefined || feature === surplusName || feature !== (only ?? feature)) continue;
      const variants = features.get(feature) ?? new Map<string, Sight>();
      features.set(feature, variants);
      variants.set(variant, merge(variants.get(variant) ?? neverSeen, seen.get(ordinal) ?? neverSeen));
    }
    return new Map(Array.from(features, ([feature, variants]) => [feature, sightOf(variants)]));
  });
}

/** The earlier first sight and the later last one. */
export function merge(a: Sight, b: Sight): Sight {
  return {
    firstSeenAt: pick(Math.min, a.firstSeenAt, b.firstSeenAt),
    lastSeenAt: pick(Math.max, a.lastSeenAt, b.lastSeenAt),
  };
}

function sightOf(variants: Map<string, Sight>): FeatureSight {
  const sight = [...variants.values()].reduce(merge, neverSeen);
  variants.delete(featureItself); // Users whose variant is not known are a sign of the feature only.
  return { ...sight, variants };
}

/** When the series of an environment were seen, by ordinal. */
function* readSeries(
  store: UsageStore,
  environment: number,
  at: Snapshot,
): Reading<ReadonlyMap<number, Sight>> {
  const seen = new Map<number, Sight>();
  for (const { ordinal, first, last } of seenOf(store, environment, at)) {
    seen.set(ordinal, { firstSeenAt: first * minuteMs, lastSeenAt: last * minuteMs });
    yield;
  }
  return seen;
}

const minuteMs = 60_000;

function pick(better: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : better(a, b);
}
