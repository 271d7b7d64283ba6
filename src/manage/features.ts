import Type from 'typebox';
import { declareFeature, deleteFeature, patchFeature } from '../accounts/features.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import { named } from '../http/openapi/named-schemas.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Route } from '../http/types.ts';
import type { Application, FeatureDeclaration } from '../store/records.ts';
import { created, deleted, okJson } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { checked } from './checked.ts';
import { checkMatch, tagged, withTag } from './etag.ts';
import { type FeatureJson, featureJson, type Sight, type Staleness } from './features-report.ts';
import { jsonBody } from './json-body.ts';
import { readFilter, readNamePage } from './lists.ts';
import type { ReportPool } from './report-pool.ts';
import { type ApplicationCall, route } from './route.ts';

/** What the routes of features need of the rest of the service. */
export interface FeatureDeps extends ManageDeps {
  readonly reports: ReportPool;
  readonly clock: Clock;
  /** Days without a packet after which a feature is stale. */
  readonly staleAfter: number;
}

const description = Type.Union([Type.Null(), Type.String({ maxLength: 1000 })], {
  description: 'What the team says of it.',
});

/** The body of `POST /applications/{id}/features`. */
export const newFeatureSchema = Type.Object(
  { name: Type.String(named), description: Type.Optional(description) },
  { additionalProperties: false },
);

/** The body of `PATCH /applications/{id}/features/{feature}`. */
export const featurePatchSchema = Type.Partial(
  Type.Object({ description, archived: Type.Boolean({ description: 'Whether the team is done with it.' }) }),
  {
    additionalProperties: false,
  },
);

const readNewFeature = jsonBody(newFeatureSchema);
const readPatch = jsonBody(featurePatchSchema);

const dayMs = 86_400_000;

/** `/api/v2/applications/{id}/features` and what is below: the declared features, and those only seen in packets. */
export function featureRoutes(parts: FeatureDeps): readonly Route[] {
  return [
    route(parts, 'GET /applications/:id/features', (call) => list(parts, call)),
    route(parts, 'POST /applications/:id/features', (call) => create(parts, call)),
    route(parts, 'GET /applications/:id/features/:feature', (call) => show(parts, call)),
    route(parts, 'PATCH /applications/:id/features/:feature', (call) => patch(parts, call)),
    route(
      parts,
      'DELETE /applications/:id/features/:feature',
      async ({ directory, application, params: { feature = '' } }) => {
        await deleteFeature(directory, application.id, feature);
        return deleted;
      },
    ),
  ];
}

async function list(
  parts: FeatureDeps,
  { directory, application, request }: ApplicationCall,
): Promise<Reply> {
  const query = parseQuery(request.query);
  const only = {
    archived: readFilter(query, 'archived'),
    declared: readFilter(query, 'declared'),
    stale: readFilter(query, 'stale'),
  };
  const page = readNamePage(request.query);
  const declared = [...directory.featuresOf(application.id).values()];
  const environments = numbersOf(application);
  const task = { environments, declared, only, page, ...stalenessOf(parts) };
  return okJson(await parts.reports.make(application.teamId, 'features', task));
}

async function create(
  parts: FeatureDeps,
  { directory, application, request }: ApplicationCall,
): Promise<Reply> {
  const wanted = await readNewFeature(request);
  const sight = await look(parts, application, wanted.name);
  const feature = await declareFeature(directory, application.id, wanted);
  const shown = featureJson(feature.name, feature, sight, stalenessOf(parts));
  return withTag(
    created(['applications', application.id, 'features', feature.name], shown),
    versionOf(shown),
  );
}

async function show(
  parts: FeatureDeps,
  { directory, application, params: { feature: name = '' } }: ApplicationCall,
): Promise<Reply> {
  const sight = await look(parts, application, name);
  const shown = existing(parts, name, directory.featuresOf(application.id).get(name), sight);
  return tagged(shown, versionOf(shown));
}

async function patch(
  parts: FeatureDeps,
  { directory, application, request, params: { feature: name = '' } }: ApplicationCall,
): Promise<Reply> {
  const wanted = await readPatch(request);
  const sight = await look(parts, application, name);
  const matched = checked(directory, (draft) => {
    const before = existing(parts, name, draft.featuresOf(application.id).get(name), sight);
    checkMatch(request, versionOf(before));
  });
  const feature = await patchFeature(matched, application.id, name, wanted);
  const shown = featureJson(name, feature, sight, stalenessOf(parts));
  return tagged(shown, versionOf(shown));
}

function look({ reports }: FeatureDeps, application: Application, name: string): Promise<Sight | undefined> {
  return reports.make(application.teamId, 'sight', { environments: numbersOf(application), feature: name });
}

/** @throws {ApiError} `not_found` when nobody has declared or seen it */
function existing(
  parts: FeatureDeps,
  name: string,
  declaration: FeatureDeclaration | undefined,
  sight: Sight | undefined,
): FeatureJson {
  if (declaration === undefined && sight === undefined) {
    throw new ApiError(
      'not_found',
      'There is no such feature: it is not declared, and no packet has named it',
    );
  }
  return featureJson(name, declaration, sight, stalenessOf(parts));
}

/** What its team decides of a feature: when it was seen moves with every minute, and is nobody's change. */
function versionOf({ name, description, declared, archived, createdAt, updatedAt }: FeatureJson): object {
  return { name, description, declared, archived, createdAt, updatedAt };
}

function numbersOf({ environments }: Application): readonly number[] {
  return environments.map(({ number }) => number);
}

function stalenessOf({ clock, staleAfter }: FeatureDeps): Staleness {
  return { now: clock.now(), staleAfterMs: staleAfter * dayMs };
}
