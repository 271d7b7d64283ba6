import { notesOf } from '../accounts/features.ts';
import { ownersOf } from '../accounts/owners.ts';
import { ApiError } from '../contract/errors.ts';
import { nearest } from '../contract/nearest.ts';
import type { FeatureDetail, Note } from '../contract/shapes/feature.ts';
import type { Sights } from '../reports/shared-sights.ts';
import { type FeatureSight, merge, neverSeen, type Sight } from '../reports/usage/sights.ts';
import { type Staleness, showFeature } from '../reports/verdicts/features-report.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application, FeatureDeclaration, FeatureNote } from '../storage/lmdb/records.ts';
import { showCode } from './code-scans.ts';
import type { Services } from './services.ts';

export const unknownFeature = 'Unknown feature: it is not declared, and no packet has named it';

/** @throws {ApiError} `not_found` unless it is declared or was seen */
export function mustBeKnown(declaration: FeatureDeclaration | undefined, sights: Sights): void {
  if (declaration === undefined && sights.size === 0) throw new ApiError('not_found', unknownFeature);
}

export function showDetail(
  services: Services,
  application: Application,
  name: string,
  declaration: FeatureDeclaration | undefined,
  sights: Sights,
): FeatureDetail {
  const { directory } = services;
  const sight = [...sights.values()].reduce<Sight>(merge, neverSeen);
  return {
    ...showFeature(
      { name, declaration, sight },
      ownersOf(directory, application, name, declaration),
      stalenessOf(services),
    ),
    code: showCode(directory, application, name),
    notes: notesOf(services.accounts, application.id, name).map(showNote),
    environments: application.environments.flatMap(({ name: environment, number }) => {
      const seen = sights.get(number);
      return seen === undefined ? [] : [{ environment, ...showSight(seen), variants: showVariants(seen) }];
    }),
    nearest: declaration === undefined ? nearestDeclared(services, application, name) : null,
  };
}

/** The declared feature with the most similar name. */
export function nearestDeclared({ directory }: Services, { id }: Application, name: string): string | null {
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

/** The current threshold for stale features. */
export function stalenessOf({ directory, staleAfterMs }: Services): Staleness {
  return { now: directory.clock.now(), staleAfterMs };
}
