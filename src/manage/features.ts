import Type from 'typebox';
import { reservedName } from '../accounts/declarations.ts';
import { declareFeature, deleteFeature, featureExists, patchFeature } from '../accounts/features.ts';
import { overPlan } from '../accounts/plans.ts';
import { ApiError } from '../errors.ts';
import { ok } from '../http/answer.ts';
import type { Group } from '../http/endpoint.ts';
import { bodyShape, flag, name } from '../http/schema.ts';
import type { Application, FeatureDeclaration } from '../store/records.ts';
import { created, done, madeTagged, oneTagged, page } from './answers.ts';
import { checked } from './checked.ts';
import { archived, description } from './declaration-shape.ts';
import { endpoint } from './endpoint.ts';
import { checkMatch, tagged, withTag } from './etag.ts';
import { Feature, type FeatureShown } from './feature-shape.ts';
import { type Sight, type Staleness, showFeature } from './features-report.ts';
import { namePage, paging } from './lists.ts';
import { type ReportingDeps, tooManyReports } from './report-pool.ts';

export interface FeatureDeps extends ReportingDeps {
  /** Days without a packet after which a feature is stale. */
  readonly staleAfter: number;
}

const NewFeature = bodyShape(
  'NewFeature',
  { name: name(), description: Type.Optional(description) },
  { name: 'checkout', description: 'The new checkout' },
);

const FeaturePatch = bodyShape(
  'FeaturePatch',
  { description: Type.Optional(description), archived: Type.Optional(archived) },
  { archived: true },
);

const filters = {
  archived: Type.Optional(flag('Only features that are archived, or only those that are not.')),
  declared: Type.Optional(flag('Only features that are declared, or only those that were just seen.')),
  stale: Type.Optional(flag('Only features that are stale, or only those that are not.')),
};

const unknown = 'There is no such feature: it is not declared, and no packet has named it';

/** `/api/v2/applications/{id}/features`, and one feature: declared, only seen in packets, or both. */
export const features: Group<FeatureDeps> = {
  tag: 'Features',
  description: 'The features that a team has declared, and those that packets and reports have named.',
  endpoints: [
    endpoint('GET /applications/:id/features', {
      access: { within: 'application', least: 'User' },
      operationId: 'listFeatures',
      summary: 'List the features of an application',
      query: { ...paging, ...filters },
      answers: { 200: page(Feature, 'Features are sorted by name.') },
      refuses: { backpressure: tooManyReports },
      async handle({ directory, application, query }, deps: FeatureDeps) {
        const { archived, declared: isDeclared, stale, ...wanted } = query;
        const only = { archived, declared: isDeclared, stale };
        const declared = [...directory.featuresOf(application.id).values()];
        const environments = numbersOf(application);
        const task = { environments, declared, only, page: namePage(wanted), ...stalenessOf(deps) };
        return ok(await deps.reports.make(application.teamId, 'features', task));
      },
    }),
    endpoint('POST /applications/:id/features', {
      access: { within: 'application', least: 'User' },
      operationId: 'declareFeature',
      summary: 'Declare a feature',
      body: NewFeature,
      answers: { 201: madeTagged(Feature, 'The feature.') },
      refuses: {
        invalid_name: reservedName('a feature'),
        conflict: featureExists,
        plan_limit: overPlan('free', 'features'),
        backpressure: tooManyReports,
      },
      async handle({ directory, application, body }, deps: FeatureDeps) {
        const sight = await look(deps, application, body.name);
        const feature = await declareFeature(directory, application.id, body);
        const shown = showFeature(feature.name, feature, sight, stalenessOf(deps));
        const path = ['applications', application.id, 'features', feature.name];
        return withTag(created(path, shown), versionOf(shown));
      },
    }),
    endpoint('GET /applications/:id/features/:feature', {
      access: { within: 'application', least: 'User' },
      operationId: 'getFeature',
      summary: 'Read a feature',
      answers: { 200: oneTagged(Feature, 'The feature. Packets do not change its `ETag`.') },
      refuses: { not_found: unknown, backpressure: tooManyReports },
      async handle({ directory, application, params: { feature: name } }, deps: FeatureDeps) {
        const sight = await look(deps, application, name);
        const shown = existing(deps, name, directory.featuresOf(application.id).get(name), sight);
        return tagged(shown, versionOf(shown));
      },
    }),
    endpoint('PATCH /applications/:id/features/:feature', {
      access: { within: 'application', least: 'User' },
      operationId: 'changeFeature',
      summary: 'Change a feature',
      description: 'This also declares a feature that was only seen.',
      body: FeaturePatch,
      matches: true,
      answers: { 200: oneTagged(Feature, 'The feature after the change.') },
      refuses: {
        not_found: unknown,
        plan_limit: overPlan('free', 'features'),
        backpressure: tooManyReports,
      },
      async handle({ directory, application, request, body, params }, deps: FeatureDeps) {
        const { feature: name } = params;
        const sight = await look(deps, application, name);
        const matched = checked(directory, (draft) => {
          const before = existing(deps, name, draft.featuresOf(application.id).get(name), sight);
          checkMatch(request, versionOf(before));
        });
        const feature = await patchFeature(matched, application.id, name, body);
        const shown = showFeature(name, feature, sight, stalenessOf(deps));
        return tagged(shown, versionOf(shown));
      },
    }),
    endpoint('DELETE /applications/:id/features/:feature', {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteFeature',
      summary: 'Delete the declaration of a feature',
      description: 'Its counts stay, and so does the feature if it was ever seen.',
      answers: { 204: done('It is no longer declared.') },
      handle: ({ directory, application, params }) =>
        deleteFeature(directory, application.id, params.feature),
    }),
  ],
};

function look({ reports }: FeatureDeps, application: Application, name: string): Promise<Sight | undefined> {
  return reports.make(application.teamId, 'sight', { environments: numbersOf(application), feature: name });
}

/** @throws {ApiError} `not_found` when it is neither declared nor seen */
function existing(
  deps: FeatureDeps,
  name: string,
  declaration: FeatureDeclaration | undefined,
  sight: Sight | undefined,
): FeatureShown {
  if (declaration === undefined && sight === undefined) throw new ApiError('not_found', unknown);
  return showFeature(name, declaration, sight, stalenessOf(deps));
}

/** What its team decides of a feature: `lastSeenAt` moves with the packets. */
function versionOf({ name, description, declared, archived, createdAt, updatedAt }: FeatureShown): object {
  return { name, description, declared, archived, createdAt, updatedAt };
}

function numbersOf({ environments }: Application): readonly number[] {
  return environments.map(({ number }) => number);
}

const dayMs = 86_400_000;

function stalenessOf({ directory, staleAfter }: FeatureDeps): Staleness {
  return { now: directory.clock.now(), staleAfterMs: staleAfter * dayMs };
}
