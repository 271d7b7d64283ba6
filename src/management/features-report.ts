import { defaultSettings } from '../accounts/feature-settings.ts';
import type { Feature } from '../contract/shapes/feature.ts';
import type { Page } from '../contract/shapes/fields.ts';
import type { FeatureDeclaration } from '../storage/lmdb/records.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { timeText } from './answers.ts';
import { cutPage, type PageRequest } from './lists.ts';
import { type FeatureSight, merge, neverSeen, readSights, type Sight } from './sights.ts';

/** The threshold for stale features, ms. */
export interface Staleness {
  readonly now: number;
  readonly staleAfterMs: number;
}

export interface FeaturesTask extends Staleness {
  /** The numbers of its environments. */
  readonly environments: readonly number[];
  readonly declared: readonly FeatureDeclaration[];
  /** The filters of the caller. */
  readonly only: { readonly [Property in 'archived' | 'declared' | 'stale']: boolean | undefined };
  readonly page: PageRequest<string>;
}

/** Features to find. */
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
 * When features were seen, by name and number of the environment, without environments in which they were not.
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
 * A feature as in the API. A feature that was never seen becomes stale with the age of its declaration.
 * @param declaration `undefined` if it was only seen
 * @param sight `undefined` if it is only declared
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
