import { seenOf } from '../storage/lmdb/seen.ts';
import { featureItself, seriesOf, surplusName } from '../storage/lmdb/series.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageStore } from '../storage/lmdb/usage.ts';

/** When something was seen: Unix ms, to the minute. `null` when that is not known. */
export interface Sight {
  readonly firstSeenAt: number | null;
  readonly lastSeenAt: number | null;
}

export const neverSeen: Sight = { firstSeenAt: null, lastSeenAt: null };

/** When a feature was seen in one environment, and each variant of it that has a name. */
export interface FeatureSight extends Sight {
  /** Of the first series that names the feature. */
  readonly ordinal: number;
  readonly variants: ReadonlyMap<string, Sight>;
}

/** Records between two pauses. */
const stride = 128;

/** The names of some features. */
type Only = Pick<ReadonlySet<string>, 'has'>;

/** The sights of an environment at a moment of their own: see `sightsAt`. */
export function readSights(
  store: UsageStore,
  environment: number,
  only?: Only,
): Reading<ReadonlyMap<string, FeatureSight>> {
  return fromSnapshot(store.lmdb, (at) => sightsAt(store, environment, at, only));
}

/**
 * Every feature that packets and reports have named in an environment, or `only` some, without `__other__`. A feature was
 * seen when a variant or a metric of it was.
 */
export function* sightsAt(
  store: UsageStore,
  environment: number,
  at: Snapshot,
  only?: Only,
): Reading<ReadonlyMap<string, FeatureSight>> {
  const features = new Map<string, Draft>();
  const seen = yield* readSeries(store, environment, at);
  let left = stride;
  for (const { ordinal, name } of seriesOf(store, environment, at)) {
    left -= 1;
    if (left === 0) {
      left = stride;
      yield;
    }
    const [feature, variant] = name.length === 3 ? [name[1], name[2]] : name;
    if (variant === undefined || feature === surplusName || only?.has(feature) === false) continue;
    addTo(features, feature, variant, ordinal, seen[ordinal] ?? neverSeen);
  }
  return features;
}

/** The earlier first sight and the later last one. */
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

/** Users whose variant is not known are a sign of the feature only. */
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

/** When the series of an environment were seen, by ordinal. */
function* readSeries(
  store: UsageStore,
  environment: number,
  at: Snapshot,
): Reading<readonly (Sight | undefined)[]> {
  const seen: (Sight | undefined)[] = [];
  let left = stride;
  for (const { ordinal, first, last } of seenOf(store, environment, at)) {
    seen[ordinal] = { firstSeenAt: first * minuteMs, lastSeenAt: last * minuteMs };
    left -= 1;
    if (left > 0) continue;
    left = stride;
    yield;
  }
  return seen;
}

const minuteMs = 60_000;

function pick(better: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : better(a, b);
}
