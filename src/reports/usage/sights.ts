import { surplusName } from '../../contract/names.ts';
import { featureItself, type SeriesName, seenOf, seriesOf } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';

/** When something was first and last seen: Unix ms, to the minute; `null` if unknown. */
export interface Sight {
  readonly firstSeenAt: number | null;
  readonly lastSeenAt: number | null;
}

export const neverSeen: Sight = { firstSeenAt: null, lastSeenAt: null };

/** When a feature and its named variants were seen in one environment. */
export interface FeatureSight extends Sight {
  /** The first series that names the feature. */
  readonly ordinal: number;
  readonly variants: ReadonlyMap<string, Sight>;
}

/** The names of some features. */
type Only = Pick<ReadonlySet<string>, 'has'>;

/** Reads the features of an environment from a snapshot of its own: see `sightsAt`. */
export function readSights(
  store: UsageTables,
  environment: number,
  only?: Only,
): Reading<ReadonlyMap<string, FeatureSight>> {
  return fromSnapshot(store.lmdb, (at) => sightsAt(store, environment, at, only));
}

/**
 * Reads when features were seen in an environment, without `__other__`. A feature is seen with any of its variants and
 * metrics.
 * @param only the features to read; all by default
 */
export function* sightsAt(
  store: UsageTables,
  environment: number,
  at: Snapshot,
  only?: Only,
): Reading<ReadonlyMap<string, FeatureSight>> {
  const features = new Map<string, Draft>();
  const seen: Sight[] = [];
  yield* readEach(seenOf(store, environment, at), ({ ordinal, first, last }) => {
    seen[ordinal] = { firstSeenAt: first * minuteMs, lastSeenAt: last * minuteMs };
  });
  yield* readEach(seriesOf(store, environment, at), ({ ordinal, name }) => {
    const [feature, variant] = name.length === 3 ? [name[1], name[2]] : name;
    if (variant === undefined || feature === surplusName || only?.has(feature) === false) return;
    addTo(features, feature, variant, ordinal, seen[ordinal] ?? neverSeen);
  });
  return features;
}

/** The earlier first time and the later last time. */
export function merge(a: Sight, b: Sight): Sight {
  return {
    firstSeenAt: pick(Math.min, a.firstSeenAt, b.firstSeenAt),
    lastSeenAt: pick(Math.max, a.lastSeenAt, b.lastSeenAt),
  };
}

interface Draft extends FeatureSight {
  firstSeenAt: number | null;
  lastSeenAt: number | null;
  readonly variants: Map<string, Sight>;
}

/** Users without a known variant count only for the feature. */
function addTo(
  features: Map<string, Draft>,
  feature: string,
  variant: string,
  ordinal: number,
  sight: Sight,
): void {
  let draft = features.get(feature);
  if (draft === undefined) {
    draft = { ordinal, ...neverSeen, variants: new Map() };
    features.set(feature, draft);
  }
  draft.firstSeenAt = pick(Math.min, draft.firstSeenAt, sight.firstSeenAt);
  draft.lastSeenAt = pick(Math.max, draft.lastSeenAt, sight.lastSeenAt);
  if (variant === featureItself) return;
  const known = draft.variants.get(variant);
  draft.variants.set(variant, known === undefined ? sight : merge(known, sight));
}

/** The results of `pick` for the series of an environment, by ordinal, without `undefined` ones. */
export function pickSeries<T>(
  store: UsageTables,
  environment: number,
  pick: (name: SeriesName, ordinal: number) => T | undefined,
): Reading<ReadonlyMap<number, T>> {
  return fromSnapshot(store.lmdb, function* (at) {
    const picked = new Map<number, T>();
    yield* readEach(seriesOf(store, environment, at), ({ ordinal, name }) => {
      const one = pick(name, ordinal);
      if (one !== undefined) picked.set(ordinal, one);
    });
    return picked;
  });
}

const minuteMs = 60_000;

function pick(better: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : better(a, b);
}
