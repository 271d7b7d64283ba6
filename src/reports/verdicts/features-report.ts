import { defaultSettings } from '../../accounts/feature-settings.ts';
import { type Owners, showOwned } from '../../accounts/owners.ts';
import { type Feature, plainFeatureSettings } from '../../contract/shapes/feature.ts';
import { type Page, pick } from '../../contract/shapes/fields.ts';
import { type VerdictKind, verdictRules } from '../../contract/verdicts.ts';
import { cutPage, type PageRequest } from '../../http/lists.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import type { FeatureDeclaration } from '../../storage/lmdb/records.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { merge, neverSeen, type Sight } from '../usage/sights.ts';
import type { Judgement } from './verdict.ts';
import { judgeIn, type Place, placesAt, type VerdictsTask } from './verdicts.ts';

/** The threshold for stale features, ms. */
export type Staleness = Pick<VerdictsTask, 'now' | 'staleAfterMs'>;

/** The names that a filter selects. With `others`, the filter selects all names except these. */
export interface OwnedNames {
  readonly names: ReadonlySet<string>;
  readonly others: boolean;
}

/** A page of the features to report, with their verdicts. */
export interface FeaturesTask extends VerdictsTask {
  /** The filters of the caller. */
  readonly only: { readonly [Property in 'archived' | 'declared' | 'stale']: boolean | undefined } & {
    readonly verdict: VerdictKind | undefined;
    /** Filter by owner or tag; `undefined` for all. */
    readonly owned: OwnedNames | undefined;
  };
  /** The owners of the features, for features that have owners. */
  readonly owned: ReadonlyMap<string, Owners>;
  readonly page: PageRequest<string>;
}

/** Data about a feature for the report. */
interface KnownFeature {
  readonly name: string;
  /** Declaration of the feature; `undefined` if it was only seen. */
  readonly declaration: FeatureDeclaration | undefined;
  /** Times when the feature was seen; `undefined` if it is only declared. */
  readonly sight: Sight | undefined;
}

interface ListedFeature extends KnownFeature {
  judgement?: Judgement;
}

/** Number of features between two pauses. */
const stride = 64;

/** Returns a page of an application's features, declared or only seen, sorted by name. */
export function featuresReport(store: UsageTables, task: FeaturesTask): Reading<Page<Feature>> {
  const { environments, declared, only, page, now } = task;
  return fromSnapshot(store.lmdb, function* (at) {
    const places = yield* placesAt(store, environments, now, at);
    const judge = (each: ListedFeature) => {
      each.judgement ??= judgeIn(store, task, places, each.name, each.declaration, at).judgement;
      return each.judgement;
    };
    const wanted: ListedFeature[] = [];
    let left = stride;
    for (const each of listed(places, declared)) {
      if (!isWanted(each, task)) continue;
      if (only.verdict !== undefined) {
        left = left === 0 ? stride : left - 1;
        if (left === 0) yield;
        if (judge(each).kind !== only.verdict) continue;
      }
      wanted.push(each);
    }
    const { items, nextCursor } = cutPage(wanted, page, ({ name }) => name);
    const shown: Feature[] = [];
    for (const each of items) {
      shown.push({ ...showFeature(each, task.owned.get(each.name), task), ...showVerdict(judge(each)) });
      if (shown.length % stride === 0) yield;
    }
    return { items: shown, nextCursor };
  });
}

function listed(places: readonly Place[], declared: readonly FeatureDeclaration[]): Iterable<ListedFeature> {
  const sights = new Map<string, Sight>();
  for (const place of places) {
    for (const [name, sight] of place.sights) {
      const known = sights.get(name);
      sights.set(name, known === undefined ? sight : merge(known, sight));
    }
  }
  const declarations = new Map(declared.map((each) => [each.name, each]));
  return Array.from(new Set([...declarations.keys(), ...sights.keys()]), (name) => {
    return { name, declaration: declarations.get(name), sight: sights.get(name) };
  });
}

function isWanted({ name, declaration, sight }: ListedFeature, { only, ...task }: FeaturesTask): boolean {
  const { owned } = only;
  if (owned !== undefined && owned.names.has(name) === owned.others) return false;
  const is = {
    archived: declaration?.archived ?? false,
    declared: declaration !== undefined,
    stale: isStale(declaration, sight, task),
  };
  return (['archived', 'declared', 'stale'] as const).every((each) => (only[each] ?? is[each]) === is[each]);
}

/**
 * True if a feature is stale. A feature that was never seen is stale if its declaration is older than the threshold.
 */
function isStale(
  declaration: FeatureDeclaration | undefined,
  sight: Sight | undefined,
  { now, staleAfterMs }: Staleness,
): boolean {
  const since = sight?.lastSeenAt ?? declaration?.createdAt ?? null;
  return since !== null && now - since > staleAfterMs;
}

function showVerdict({ kind, since }: Judgement) {
  return { verdict: kind, verdictBasis: verdictRules[kind].basis, verdictSince: timeText(since) };
}

/** Returns a feature as in the API, without its verdict. */
export function showFeature(
  { name, declaration, sight = neverSeen }: KnownFeature,
  owners: Owners | undefined,
  staleness: Staleness,
): Omit<Feature, 'verdict' | 'verdictBasis' | 'verdictSince'> {
  const settings = declaration ?? defaultSettings;
  const { archivedAt, snoozedUntil, split, rollout } = settings;
  const { description, archived, ...plain } = pick(settings, plainFeatureSettings);
  const { createdAt = null, updatedAt = null } = declaration ?? {};
  const { firstSeenAt, lastSeenAt } = sight;
  return {
    name,
    description,
    declared: declaration !== undefined,
    archived,
    archivedAt: timeText(archivedAt),
    ...plain,
    snoozedUntil: timeText(snoozedUntil),
    split: split && Object.fromEntries(split),
    rollout: rollout?.map(({ at, split }) => ({ at: timeText(at), split: Object.fromEntries(split) })) ?? null,
    ...showOwned(declaration, owners),
    stale: isStale(declaration, sight, staleness),
    firstSeenAt: timeText(firstSeenAt),
    lastSeenAt: timeText(lastSeenAt),
    createdAt: timeText(createdAt),
    updatedAt: timeText(updatedAt),
  };
}
