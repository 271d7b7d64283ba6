import { surplusName } from '../../contract/names.ts';
import {
  featureItself,
  getFeatureName,
  listSeenSeries,
  listSeries,
  type SeriesName,
  seenAt,
  seriesName,
} from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';

/** First and last time at which something was seen: Unix ms, to the minute; `null` if unknown. */
export interface Sight {
  readonly firstSeenAt: number | null;
  readonly lastSeenAt: number | null;
}

export const neverSeen: Sight = { firstSeenAt: null, lastSeenAt: null };

/** First and last time at which a feature and its named variants were seen in one environment. */
export interface FeatureSight extends Sight {
  /** The first series that names the feature. */
  readonly ordinal: number;
  readonly variants: ReadonlyMap<string, Sight>;
}

/** Features to find. */
export interface SightTask {
  readonly environments: readonly number[];
  readonly features: readonly string[];
}

/** Hashes of feature names, by the ordinal of each series read in an environment. */
interface SeriesIndex {
  hashes: Uint32Array;
  next: number;
}

/** Maximum number of environments in the index. An environment needs four bytes for each series. */
const maxEnvironments = 500;

/** Finds the series of some features. Each series is read once, because only deleting its environment deletes it. */
export class FeatureIndex {
  readonly #store: UsageTables;
  readonly #known = new Map<number, SeriesIndex>();

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /** Returns times by feature and environment number. Omits environments in which a feature was not seen. */
  *sights({ environments, features }: SightTask): Reading<ReadonlyMap<string, ReadonlyMap<number, FeatureSight>>> {
    const found = new Map(features.map((feature) => [feature, new Map<number, FeatureSight>()]));
    for (const environment of environments) {
      const indexed = this.#indexed(environment);
      yield* fromSnapshot(this.#store.lmdb, (at) => this.#find(found, environment, indexed, at));
    }
    return found;
  }

  #indexed(environment: number): SeriesIndex {
    const known = this.#known.get(environment) ?? { hashes: new Uint32Array(64), next: 0 };
    this.#known.delete(environment);
    this.#known.set(environment, known);
    if (this.#known.size > maxEnvironments) this.#known.delete([...this.#known.keys()][0]!);
    return known;
  }

  *#find(
    found: ReadonlyMap<string, Map<number, FeatureSight>>,
    environment: number,
    indexed: SeriesIndex,
    at: Snapshot,
  ): Reading<void> {
    const store = this.#store;
    const readName = (ordinal: number) => seriesName(store, environment, ordinal, at);
    // The store of a replica can have been replaced by the store of another node, which has other series.
    const last = indexed.next - 1;
    if (last >= 0 && hashFeature(readName(last)) !== indexed.hashes[last]) indexed.next = 0;
    yield* readEach(listSeries(store, environment, at, indexed.next), ({ ordinal, name }) => {
      if (ordinal >= indexed.hashes.length) {
        const longer = new Uint32Array(2 * ordinal);
        longer.set(indexed.hashes);
        indexed.hashes = longer;
      }
      indexed.hashes[ordinal] = hashFeature(name);
      indexed.next = ordinal + 1;
    });
    for (const [feature, sights] of found) {
      const builders = new Map<string, SightBuilder>();
      yield* readEach(findOrdinals(indexed, hashFeature([feature, ''])), (ordinal) => {
        const name = readName(ordinal);
        if (name !== undefined) addTo(builders, ordinal, name, createSight(seenAt(store, environment, ordinal, at)));
      });
      const sight = builders.get(feature);
      if (sight !== undefined) sights.set(environment, sight);
    }
  }
}

function* findOrdinals({ hashes }: SeriesIndex, hash: number): Generator<number> {
  for (let at = hashes.indexOf(hash); at >= 0; at = hashes.indexOf(hash, at + 1)) yield at;
}

/** Computes the FNV-1a hash of the feature name. The result is never 0, which stands for a missing series. */
function hashFeature(series: SeriesName | undefined): number {
  const feature = (series && getFeatureName(series)) ?? '';
  let hash = 0x811c9dc5;
  for (let at = 0; at < feature.length; at += 1) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
  return (hash | 1) >>> 0;
}

/** The names of some features. */
type Only = Pick<ReadonlySet<string>, 'has'>;

/**
 * Reads when features were seen in an environment, without `__other__`. A feature is seen if any of its variants or
 * metrics is seen.
 * @param only features to read; all by default
 */
export function* sightsAt(
  store: UsageTables,
  environment: number,
  at: Snapshot,
  only?: Only,
): Reading<ReadonlyMap<string, FeatureSight>> {
  const features = new Map<string, SightBuilder>();
  const seen: Sight[] = [];
  yield* readEach(listSeenSeries(store, environment, at), (each) => {
    seen[each.ordinal] = createSight(each);
  });
  yield* readEach(listSeries(store, environment, at), ({ ordinal, name }) => {
    addTo(features, ordinal, name, seen[ordinal] ?? neverSeen, only);
  });
  return features;
}

/** Returns the earlier first time and the later last time. */
export function merge(a: Sight, b: Sight): Sight {
  return {
    firstSeenAt: pick(Math.min, a.firstSeenAt, b.firstSeenAt),
    lastSeenAt: pick(Math.max, a.lastSeenAt, b.lastSeenAt),
  };
}

interface SightBuilder extends FeatureSight {
  firstSeenAt: number | null;
  lastSeenAt: number | null;
  readonly variants: Map<string, Sight>;
}

/** Adds the times of a series to its feature. Users without a known variant count only for the feature. */
function addTo(
  features: Map<string, SightBuilder>,
  ordinal: number,
  name: SeriesName,
  sight: Sight,
  only?: Only,
): void {
  const [feature, variant] = name.length === 3 ? [name[1], name[2]] : name;
  if (variant === undefined || feature === surplusName || only?.has(feature) === false) return;
  let builder = features.get(feature);
  if (builder === undefined) {
    builder = { ordinal, ...neverSeen, variants: new Map() };
    features.set(feature, builder);
  }
  builder.firstSeenAt = pick(Math.min, builder.firstSeenAt, sight.firstSeenAt);
  builder.lastSeenAt = pick(Math.max, builder.lastSeenAt, sight.lastSeenAt);
  if (variant === featureItself) return;
  const known = builder.variants.get(variant);
  builder.variants.set(variant, known === undefined ? sight : merge(known, sight));
}

/** Returns the results of `pick` for the series of an environment, by ordinal, without `undefined` results. */
export function pickSeries<T>(
  store: UsageTables,
  environment: number,
  pick: (name: SeriesName, ordinal: number) => T | undefined,
): Reading<ReadonlyMap<number, T>> {
  return fromSnapshot(store.lmdb, function* (at) {
    const picked = new Map<number, T>();
    yield* readEach(listSeries(store, environment, at), ({ ordinal, name }) => {
      const one = pick(name, ordinal);
      if (one !== undefined) picked.set(ordinal, one);
    });
    return picked;
  });
}

const minuteMs = 60_000;

function createSight(seen: { readonly first: number; readonly last: number } | undefined): Sight {
  return seen ? { firstSeenAt: seen.first * minuteMs, lastSeenAt: seen.last * minuteMs } : neverSeen;
}

function pick(better: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : better(a, b);
}
