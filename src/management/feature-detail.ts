import { notesOf } from '../accounts/features.ts';
import { ownersOf } from '../accounts/owners.ts';
import { ApiError } from '../contract/errors.ts';
import { nearest } from '../contract/nearest.ts';
import type { FeatureDetail, Note } from '../contract/shapes/feature.ts';
import type { SharedSights, Sights } from '../reports/shared-sights.ts';
import { type FeatureSight, merge, neverSeen, type Sight } from '../reports/usage/sights.ts';
import { type Staleness, showFeature } from '../reports/verdicts/features-report.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Application, FeatureDeclaration, FeatureNote } from '../storage/lmdb/records.ts';
import type { ReportingDeps } from './caller.ts';
import { showCode } from './code-scans.ts';

/** Dependencies of endpoints that report stale features. */
export interface StalenessDeps extends Pick<ReportingDeps, 'directory'> {
  /** Days without a packet after which a feature is stale. */
  readonly staleAfter: number;
}

/** Dependencies of endpoints of features. */
export interface FeatureDeps extends ReportingDeps, StalenessDeps {
  readonly accounts: Pick<AccountTables, 'notes'>;
  readonly sights: SharedSights;
}

export const unknownFeature = 'Unknown feature: it is not declared, and no packet has named it';

/** @throws {ApiError} `not_found` unless it is declared or was seen */
export function mustBeKnown(declaration: FeatureDeclaration | undefined, sights: Sights): void {
  if (declaration === undefined && sights.size === 0) throw new ApiError('not_found', unknownFeature);
}

export function showDetail(
  deps: FeatureDeps,
  application: Application,
  name: string,
  declaration: FeatureDeclaration | undefined,
  sights: Sights,
): FeatureDetail {
  const { directory } = deps;
  const sight = [...sights.values()].reduce<Sight>(merge, neverSeen);
  return {
    ...showFeature(
      { name, declaration, sight },
      ownersOf(directory, application, name, declaration),
      stalenessOf(deps),
    ),
    code: showCode(directory, application, name),
    notes: notesOf(deps.accounts, application.id, name).map(showNote),
    environments: application.environments.flatMap(({ name: environment, number }) => {
      const seen = sights.get(number);
      return seen === undefined ? [] : [{ environment, ...showSight(seen), variants: showVariants(seen) }];
    }),
    nearest: declaration === undefined ? nearestDeclared(deps, application, name) : null,
  };
}

/** The declared feature with the most similar name. */
export function nearestDeclared(
  { directory }: FeatureDeps,
  { id }: Application,
  name: string,
): string | null {
  return nearest(name, [...directory.featuresOf(id).keys()]) ?? null;
}

export function showNote({ id, at, environment, text, by }: FeatureNote): Note {
  return { id, at: timeText(at), environment, text, by };
}

function showVariants({ variants }: FeatureSight) {
  return Array.from(variants, ([variant, sight]) => ({ variant, ...showSight(sight) }));
}

function showSight({ firstSeenAt, lastSeenAt }: Sight) {
  return { firstSeenAt: timeText(firstSeenAt), lastSeenAt: timeText(lastSeenAt) };
}

const dayMs = 86_400_000;

/** The current threshold for stale features. */
export function stalenessOf({ directory, staleAfter }: StalenessDeps): Staleness {
  return { now: directory.clock.now(), staleAfterMs: staleAfter * dayMs };
}
