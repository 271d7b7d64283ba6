import type { FeatureDeclaration } from '../store/records.ts';
import { seenOf } from '../store/seen.ts';
import { seriesOf, surplusName } from '../store/series.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../store/snapshot.ts';
import type { UsageStore } from '../store/usage.ts';
import { timeText } from './answers.ts';
import type { FeatureShown } from './feature-shape.ts';
import { cutPage, type Page, type PageRequest } from './lists.ts';

/** When a feature was seen, in any environment: Unix ms, to the minute. `null` when that is not known. */
export interface Sight {
  readonly firstSeenAt: number | null;
  readonly lastSeenAt: number | null;
}

/** What decides whether a feature is stale. Milliseconds. */
export interface Staleness {
  readonly now: number;
  readonly staleAfterMs: number;
}

export interface FeaturesTask extends Staleness {
  /** The numbers of its environments. */
  readonly environments: readonly number[];
  readonly declared: readonly FeatureDeclaration[];
  /** What each feature of the list must be, as far as the caller asks for it. */
  readonly only: { readonly [Property in 'archived' | 'declared' | 'stale']: boolean | undefined };
  readonly page: PageRequest<string>;
}

/** One feature to look for. */
export interface SightTask {
  readonly environments: readonly number[];
  readonly feature: string;
}

const neverSeen: Sight = { firstSeenAt: null, lastSeenAt: null };

/** A page of an application's features, declared or only seen, sorted by name. */
export function* featuresReport(store: UsageStore, task: FeaturesTask): Reading<Page<FeatureShown>> {
  const { environments, declared, only, page } = task;
  const sights = yield* readSights(store, environments);
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const names = new Set([...declarations.keys(), ...sights.keys()]);
  const features = Array.from(names, (name) =>
    showFeature(name, declarations.get(name), sights.get(name), task),
  );
  const wanted = features.filter((feature) =>
    (['archived', 'declared', 'stale'] as const).every(
      (each) => (only[each] ?? feature[each]) === feature[each],
    ),
  );
  return cutPage(wanted, page, ({ name }) => name);
}

/** When one feature was seen; `undefined` when no packet has named it. */
export function* sightOf(
  store: UsageStore,
  { environments, feature }: SightTask,
): Reading<Sight | undefined> {
  return (yield* readSights(store, environments, feature)).get(feature);
}

/**
 * A feature as the API shows it. A feature that was never seen is stale when it was declared long enough ago.
 * @param declaration `undefined` when it was only seen
 * @param sight `undefined` when it was only declared
 */
export function showFeature(
  name: string,
  declaration: FeatureDeclaration | undefined,
  sight: Sight = neverSeen,
  { now, staleAfterMs }: Staleness,
): FeatureShown {
  const { description = null, archived = false, createdAt = null, updatedAt = null } = declaration ?? {};
  const { firstSeenAt, lastSeenAt } = sight;
  const since = lastSeenAt ?? createdAt;
  return {
    name,
    description,
    declared: declaration !== undefined,
    archived,
    stale: since !== null && now - since > staleAfterMs,
    firstSeenAt: timeText(firstSeenAt),
    lastSeenAt: timeText(lastSeenAt),
    createdAt: timeText(createdAt),
    updatedAt: timeText(updatedAt),
  };
}

/**
 * Every feature that packets and reports have named, or `only` the one, without `__other__`. A feature was seen when a variant or
 * a metric of it was.
 */
function* readSights(
  store: UsageStore,
  environments: readonly number[],
  only?: string,
): Reading<ReadonlyMap<string, Sight>> {
  const sights = new Map<string, Sight>();
  for (const environment of environments) {
    yield* fromSnapshot(store.lmdb, function* (at) {
      const seen = yield* readSeries(store, environment, at);
      for (const { ordinal, name } of seriesOf(store, environment, at)) {
        yield;
        const feature = name.length === 3 ? name[1] : name[0];
        if (name.length === 1 || feature === surplusName || feature !== (only ?? feature)) continue;
        sights.set(feature, merge(sights.get(feature) ?? neverSeen, seen.get(ordinal) ?? neverSeen));
      }
    });
  }
  return sights;
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

function merge(a: Sight, b: Sight): Sight {
  return {
    firstSeenAt: pick(Math.min, a.firstSeenAt, b.firstSeenAt),
    lastSeenAt: pick(Math.max, a.lastSeenAt, b.lastSeenAt),
  };
}

function pick(better: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : better(a, b);
}
