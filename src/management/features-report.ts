import { defaultSettings } from '../accounts/feature-settings.ts';
import type { Feature } from '../contract/shapes/feature.ts';
import type { Page } from '../contract/shapes/fields.ts';
import type { FeatureDeclaration } from '../storage/lmdb/records.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { timeText } from './answers.ts';
import { cutPage, type PageRequest } from './lists.ts';
import { type FeatureSight, merge, neverSeen, readSights, type Sight } from './sights.ts';

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

/** Features to look for. */
export interface SightTask {
  readonly environments: readonly number[];
  readonly features: readonly string[];
}

/** A page of an application's features, declared or only seen, sorted by name. */
export function* featuresReport(store: UsageTables, task: FeaturesTask): Reading<Page<Feature>> {
  const { environments, declared, only, page } = task;
  const sights = new Map<string, Sight>();
  for (const environment of environments) {
    for (const [name, sight] of yield* readSights(store, environment)) {
      sights.set(name, merge(sights.get(name) ?? neverSeen, sight));
    }
  }
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

/**
 * When features were seen, by name and the number of the environment; environments that no packet has named them in are left
 * out.
 */
export function* sightsOf(
  store: UsageTables,
  { environments, features }: SightTask,
): Reading<ReadonlyMap<string, ReadonlyMap<number, FeatureSight>>> {
  const found = new Map(features.map((feature) => [feature, new Map<number, FeatureSight>()]));
  for (const environment of environments)
    for (const [feature, sight] of yield* readSights(store, environment, found))
      found.get(feature)!.set(environment, sight);
  return found;
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
): Feature {
  const { description, archived, archivedAt, permanent, snoozedUntil, split } =
    declaration ?? defaultSettings;
  const { createdAt = null, updatedAt = null } = declaration ?? {};
  const { firstSeenAt, lastSeenAt } = sight;
  const since = lastSeenAt ?? createdAt;
  return {
    name,
    description,
    declared: declaration !== undefined,
    archived,
    archivedAt: timeText(archivedAt),
    permanent,
    snoozedUntil: timeText(snoozedUntil),
    split: split && Object.fromEntries(split),
    stale: since !== null && now - since > staleAfterMs,
    firstSeenAt: timeText(firstSeenAt),
    lastSeenAt: timeText(lastSeenAt),
    createdAt: timeText(createdAt),
    updatedAt: timeText(updatedAt),
  };
}
