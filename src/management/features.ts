import Type from 'typebox';
import { readTime, sentNameRule, timeRule } from '../accounts/checks.ts';
import { reservedName } from '../accounts/declarations.ts';
import {
  addNote,
  declareFeature,
  deleteFeature,
  deleteNote,
  featureExists,
  type FeaturePatch as Patch,
  patchFeature,
  readNotes,
  tooManyNotes,
} from '../accounts/features.ts';
import { findOwners } from '../accounts/owners.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import { Refusal } from '../contract/errors.ts';
import { nearest } from '../contract/nearest.ts';
import {
  Feature,
  FeatureDetail,
  FeaturePatch,
  NewFeature,
  NewNote,
  Note,
  type RolloutStep,
} from '../contract/shapes/feature.ts';
import { boolean, pick, text } from '../contract/shapes/fields.ts';
import { verdictKinds } from '../contract/verdicts.ts';
import { namePage, paging } from '../http/lists.ts';
import { featureColumns } from '../reports/exports/make-export.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import type { Sights } from '../reports/shared-sightings.ts';
import { type FeatureSight, merge, neverSeen, type Sight } from '../reports/usage/sights.ts';
import { type Staleness, showFeature } from '../reports/verdicts/features-report.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type {
  Application,
  FeatureDeclaration,
  FeatureNote,
  RolloutStep as StoredStep,
} from '../storage/lmdb/records.ts';
import { showCode } from './code-scans.ts';
import { endpoint, type Group } from './endpoint.ts';
import { anyEnvironment, findEnvironment, findEnvironments, unknownEnvironment } from './environments.ts';
import { format, orInRows, respondWithReport } from './format.ts';
import { allOwners, namesOwned } from './owned.ts';
import { checkMatch, created, done, made, madeTagged, oneTagged, page, tagged, withTag } from './responses.ts';
import type { Services } from './services.ts';

export const unknownFeature = 'Unknown feature: it is not declared, and no packet has named it';

const ownedFilters = {
  owner: Type.Optional(
    text(
      'Only features of this owner: the id, name or e-mail address of a user, or the id or name of a team, or a text.',
    ),
  ),
  tag: Type.Optional(text('Only features with this tag.')),
  mine: Type.Optional(
    boolean(
      '`true`: only features owned by the caller or one of their teams; `false`: only other features. In CODEOWNERS, `@ada` also matches ada@shop.example, and `@shop/checkout` matches a team named Checkout.',
    ),
  ),
};

const filters = {
  archived: Type.Optional(boolean('`true`: only archived features; `false`: only other features.')),
  declared: Type.Optional(boolean('`true`: only declared features; `false`: only undeclared features.')),
  stale: Type.Optional(
    boolean(
      '`true`: only stale features; `false`: only other features. The filter uses only the time since the last packet.',
    ),
  ),
  verdict: Type.Optional(
    Type.Union(
      verdictKinds.map((kind) => Type.Literal(kind)),
      { description: 'Only features with this verdict.' },
    ),
  ),
};

/** `/api/v2/applications/{id}/features`: features that are declared, seen in packets, or both. */
export const features: Group = {
  tag: 'Features',
  description: 'Features that the team has declared or that packets and reports have named.',
  endpoints: [
    endpoint('GET /applications/:id/features', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listFeatures',
      counted: 'any',
      summary: 'List the features of an application',
      description:
        'With `environment`, the times and verdicts are for one environment. Declared features are always listed. CSV and NDJSON are not paged.',
      query: { ...paging, ...filters, ...ownedFilters, ...anyEnvironment.query, ...format },
      responses: { 200: orInRows(page(Feature, 'Features are sorted by name.'), featureColumns) },
      refuses: { ...anyEnvironment.refuses, backpressure: tooManyReports },
      handle(call, services) {
        const { directory, application, caller, query } = call;
        const { archived, declared: isDeclared, stale, verdict, environment, owner, tag, mine, ...wanted } = query;
        const owned = allOwners(directory, application);
        const passing = namesOwned(directory, application, owned, caller, { owner, tag, mine });
        const only = { archived, declared: isDeclared, stale, verdict, owned: passing };
        const declared = [...directory.getFeatures(application.id).values()];
        const environments = findEnvironments(application.environments, environment);
        const listed = { environments, declared, owned, page: namePage(wanted) };
        const task = { ...listed, only, ...getStaleness(services) };
        return respondWithReport(call, services.reports, 'features', task);
      },
    }),
    endpoint('POST /applications/:id/features', {
      access: { within: 'application', least: 'User' },
      operationId: 'declareFeature',
      summary: 'Declare a feature',
      body: NewFeature,
      responses: { 201: madeTagged(FeatureDetail, 'The feature.') },
      refuses: {
        invalid_name: reservedName('a feature'),
        conflict: featureExists,
        plan_limit: describeTierLimit('free', 'features'),
        backpressure: tooManyReports,
      },
      async handle({ directory, application, body }, services) {
        const sights = await services.sights.of(application, body.name);
        const feature = await declareFeature(directory, application.id, body);
        const shown = showDetail(services, application, feature.name, feature, sights);
        const path = ['applications', application.id, 'features', feature.name];
        return withTag(created(path, shown), pickVersion(shown));
      },
    }),
    endpoint('GET /applications/:id/features/:feature', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'getFeature',
      counted: 'any',
      summary: 'Read a feature',
      responses: { 200: oneTagged(FeatureDetail, 'The feature. Packets and notes do not change its `ETag`.') },
      refuses: { not_found: unknownFeature, backpressure: tooManyReports },
      async handle({ directory, application, params: { feature: name } }, services) {
        const sights = await services.sights.of(application, name);
        const declaration = directory.getFeatures(application.id).get(name);
        mustBeKnown(declaration, sights);
        const shown = showDetail(services, application, name, declaration, sights);
        return tagged(shown, pickVersion(shown));
      },
    }),
    endpoint('PATCH /applications/:id/features/:feature', {
      access: { within: 'application', least: 'User' },
      operationId: 'changeFeature',
      summary: 'Change a feature',
      description: 'An undeclared feature is declared.',
      body: FeaturePatch,
      matches: true,
      responses: { 200: oneTagged(FeatureDetail, 'The feature after the change.') },
      refuses: {
        invalid_name: sentNameRule('a variant'),
        invalid_time: timeRule('snoozedUntil'),
        not_found: unknownFeature,
        plan_limit: describeTierLimit('free', 'features'),
        backpressure: tooManyReports,
      },
      async handle({ directory, application, request, body, params }, services) {
        const { feature: name } = params;
        const sights = await services.sights.of(application, name);
        const matched = directory.under({
          check(tx) {
            const before = tx.getFeatures(application.id).get(name);
            mustBeKnown(before, sights);
            checkMatch(request, pickVersion(showDetail(services, application, name, before, sights)));
          },
        });
        const feature = await patchFeature(matched, application.id, name, entered(body));
        const shown = showDetail(services, application, name, feature, sights);
        return tagged(shown, pickVersion(shown));
      },
    }),
    endpoint('DELETE /applications/:id/features/:feature', {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteFeature',
      summary: 'Delete the declaration of a feature',
      description:
        'The notes and experiments of the feature are deleted. Its counts remain. The feature is still listed if a packet or report has named it.',
      responses: { 204: done('The feature is no longer declared.') },
      handle: ({ directory, application, params }) => deleteFeature(directory, application.id, params.feature),
    }),
  ],
};

/** Returns the fields of a feature that its entity tag covers. The other fields change with packets and notes. */
function pickVersion(feature: FeatureDetail): object {
  const { name, declared, createdAt, updatedAt, ownersFrom } = feature;
  const settings = pick(feature, settable);
  if (ownersFrom !== 'declaration') settings.owners = [];
  return { name, declared, ...settings, createdAt, updatedAt };
}

const settable = Object.keys(FeaturePatch.properties) as readonly (keyof FeaturePatch)[];

/** Converts a patch for the accounts. @throws {Refusal} `invalid_time` */
function entered({ snoozedUntil, split, rollout, ...rest }: FeaturePatch): Patch {
  return {
    ...rest,
    ...(snoozedUntil !== undefined && { snoozedUntil: readTime('snoozedUntil', snoozedUntil) }),
    ...(split !== undefined && { split: split && Object.entries(split) }),
    ...(rollout !== undefined && { rollout: rollout?.map(enteredStep) ?? null }),
  };
}

function enteredStep({ at, split }: RolloutStep): StoredStep {
  return { at: readTime('rollout', at), split: Object.entries(split) };
}

/** `/api/v2/applications/{id}/features/{feature}/notes`. */
export const featureNotes: Group = {
  tag: 'Feature notes',
  description: 'Notes of a team about a feature, such as the date of a rollout. The feature itself lists its notes.',
  endpoints: [
    endpoint('POST /applications/:id/features/:feature/notes', {
      access: { within: 'application', least: 'User' },
      operationId: 'addNote',
      summary: 'Add a note to a feature',
      description: 'An undeclared feature also accepts notes, and stays undeclared.',
      body: NewNote,
      responses: { 201: made(Note, 'The note.') },
      refuses: {
        invalid_time: timeRule('at'),
        unknown_environment: unknownEnvironment,
        not_found: unknownFeature,
        conflict: tooManyNotes,
        backpressure: tooManyReports,
      },
      async handle({ directory, application, params: { feature }, body }, services) {
        const { text, at, environment = null } = body;
        if (environment !== null) findEnvironment(application.environments, environment);
        const time = at === undefined ? directory.clock.now() : readTime('at', at);
        mustBeKnown(directory.getFeatures(application.id).get(feature), await services.sights.of(application, feature));
        const note = await addNote(directory, application.id, feature, { at: time, environment, text });
        return created(['applications', application.id, 'features', feature, 'notes', note.id], showNote(note));
      },
    }),
    endpoint('DELETE /applications/:id/features/:feature/notes/:noteId', {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteNote',
      summary: 'Delete a note of a feature',
      responses: { 204: done('The note is deleted.') },
      handle: ({ directory, application, params: { feature, noteId } }) =>
        deleteNote(directory, application.id, feature, noteId),
    }),
  ],
};

/** @throws {Refusal} `not_found` unless the feature is declared or was seen */
export function mustBeKnown(declaration: FeatureDeclaration | undefined, sights: Sights): void {
  if (declaration === undefined && sights.size === 0) throw new Refusal('not_found', unknownFeature);
}

function showDetail(
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
      findOwners(directory, application, name, declaration),
      getStaleness(services),
    ),
    code: showCode(directory, application, name),
    notes: readNotes(services.accounts, application.id, name).map(showNote),
    environments: application.environments.flatMap(({ name: environment, number }) => {
      const seen = sights.get(number);
      return seen === undefined ? [] : [{ environment, ...showSight(seen), variants: showVariants(seen) }];
    }),
    nearest: declaration === undefined ? nearestDeclared(services, application, name) : null,
  };
}

/** Returns the declared feature whose name is most similar to a name. */
export function nearestDeclared({ directory }: Services, { id }: Application, name: string): string | null {
  return nearest(name, [...directory.getFeatures(id).keys()]) ?? null;
}

function showNote({ id, at, environment, text, by }: FeatureNote): Note {
  return { id, at: timeText(at), environment, text, by };
}

function showVariants({ variants }: FeatureSight) {
  return Array.from(variants, ([variant, sight]) => ({ variant, ...showSight(sight) }));
}

function showSight({ firstSeenAt, lastSeenAt }: Sight) {
  return { firstSeenAt: timeText(firstSeenAt), lastSeenAt: timeText(lastSeenAt) };
}

/** Returns the current threshold for stale features. */
export function getStaleness({ directory, staleAfterMs }: Services): Staleness {
  return { now: directory.clock.now(), staleAfterMs };
}
