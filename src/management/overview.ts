import { gunzipSync } from 'node:zlib';
import Type from 'typebox';
import { listLeakedKeys } from '../accounts/application-keys.ts';
import { declarationsVersion } from '../accounts/declarations.ts';
import { Overview, OverviewUsers } from '../contract/shapes/overview.ts';
import { type DeclaredResponse, type Header, jsonResponse } from '../http/endpoint.ts';
import { isTagIn } from '../http/entity-tag.ts';
import { codingFor } from '../http/negotiation.ts';
import type { JsonBytes, TypedResponse } from '../http/responses.ts';
import type { Request } from '../http/types.ts';
import { columnsIn, listColumns } from '../reports/exports/row-writer.ts';
import { overviewRange, readOverviewRange } from '../reports/overview/overview-range.ts';
import type { OverviewTask } from '../reports/overview/overview-report.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import type { PackedJson } from '../reports/shared-results.ts';
import { range, timeZone } from '../reports/usage/report-range.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { findEnvironment, oneEnvironment } from './environments.ts';
import { getStaleness } from './features.ts';
import { format, orInRows, respondWithRows } from './format.ts';
import { allOwners } from './owned.ts';
import { formatFreshness, freshnessHeaders } from './responses.ts';
import type { Services } from './services.ts';

const headers = {
  ETag: {
    description: 'Identifies the figures and the content coding. Constant until a figure changes.',
    required: true,
    schema: { type: 'string', pattern: '^"[\\w-]{22}(-gzip)?"$' },
  },
  Vary: { required: true, schema: { const: 'Accept-Encoding' } },
  ...freshnessHeaders,
} as const satisfies Record<string, Header>;

const coding: Header = { description: 'Present if the body is compressed.', schema: { const: 'gzip' } };

const unchanged: DeclaredResponse<undefined, typeof headers> = { description: 'The figures are unchanged.', headers };

/** Maximum number of features whose users one request counts. */
const maxNames = 60;

const userColumns = { ...listColumns(OverviewUsers), ...columnsIn(OverviewUsers, 'features') };

const refuses = { ...oneEnvironment.refuses, backpressure: tooManyReports };

/** `/api/v2/applications/{id}/overview`. */
export const overview: Group = {
  tag: 'Overview',
  description: 'An environment at a glance.',
  endpoints: [
    endpoint('GET /applications/:id/overview', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'overview',
      summary: 'Read the overview of an environment',
      description: `Without \`to\`, the overview ends now; without \`from\`, it covers seven days. Absent counts are 0. The overview is computed at most
once a second for all callers, so poll the overview every second or two, with \`If-None-Match\`.`,
      query: { ...oneEnvironment.query, ...overviewRange },
      remembers: true,
      responses: {
        200: jsonResponse(Overview, 'The overview.', { ...headers, 'Content-Encoding': coding }),
        304: unchanged,
      },
      refuses,
      async handle({ application, query, request }, services) {
        const { number, teamId } = application;
        const environment = findEnvironment(application.environments, query.environment);
        const now = services.directory.clock.now();
        const ranges = readOverviewRange(query, now, services.retention);
        const declarations = declaredBy(services, application);
        const { from, to, step } = ranges.range;
        const { timeZone = '', compare = '' } = query;
        const key = [environment.number, from, to, step, timeZone, compare, declarations.version].join(' ');
        const { environments } = application;
        const place = { application: number, environment, environments };
        const { retention } = services;
        const task = { ...ranges, ...place, retention, ...getStaleness(services), ...declarations };
        const make = () => makeFresh(services, teamId, { ...task, owned: allOwners(services.directory, application) });
        return respond(request, await services.overviews.get(key, make));
      },
    }),
    endpoint('GET /applications/:id/overview/users', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'overviewUsers',
      counted: 'recent',
      summary: 'Count the users of some features',
      description:
        'Covers the complete UTC days of the range. Today is included if no user was counted on them. A page can use this to show the users of the features that it lists.',
      query: {
        ...oneEnvironment.query,
        ...range,
        ...timeZone,
        feature: Type.Array(Type.String(), {
          maxItems: maxNames,
          description: `A feature. Repeat the parameter for up to ${maxNames} features.`,
        }),
        ...format,
      },
      responses: { 200: orInRows(jsonResponse(OverviewUsers, 'The users of the features.'), userColumns) },
      refuses,
      async handle(call, { reports, retention }) {
        const { directory, application, query } = call;
        const environment = findEnvironment(application.environments, query.environment);
        const now = directory.clock.now();
        const { range } = readOverviewRange({ ...query, step: 'day' }, now, retention);
        const task = { environment, range, features: query.feature };
        const made = await reports.make(application.teamId, 'overviewUsers', task);
        return respondWithRows(call, made, userColumns, ({ from, to, features }) =>
          features.map((feature) => ({ from, to, ...feature })),
        );
      },
    }),
  ],
};

/** Computes an overview from the latest counts. */
async function makeFresh(
  { reports, freshen }: Services,
  teamId: string,
  task: Omit<OverviewTask, 'fresh'>,
): Promise<PackedJson> {
  return reports.make(teamId, 'overview', { ...task, fresh: await freshen('any') });
}

/**
 * Returns the declared part of an overview, which comes from the accounts. The cache key contains a version of this
 * part, so that a change appears immediately.
 */
function declaredBy({ directory }: Services, application: Application) {
  const { id } = application;
  const declared = [...directory.getFeatures(id).values()];
  const leakedKeys = listLeakedKeys(directory, id).length;
  const scanned = [...directory.getScans(id).values()].map(({ at }) => at);
  return { declared, leakedKeys, version: [declarationsVersion(declared), leakedKeys, ...scanned].join(' ') };
}

type CacheHeader = 'etag' | 'vary';

function respond(
  request: Request,
  { tag, gzip, fresh }: PackedJson,
): TypedResponse<200, Overview, CacheHeader> | TypedResponse<304, undefined, CacheHeader> {
  const isPacked = codingFor(request.header('accept-encoding'), ['gzip']) === 'gzip';
  const etag = isPacked ? tag.replace(/"$/, '-gzip"') : tag;
  const headers = { etag, vary: 'Accept-Encoding', ...formatFreshness(fresh) };
  if (isTagIn(etag, request.header('if-none-match'))) return { status: 304, body: undefined, headers };
  const body = (isPacked ? gzip : gunzipSync(gzip)) as unknown as JsonBytes<Overview>;
  const more = isPacked ? { 'content-encoding': 'gzip' } : {};
  return { status: 200, body, headers: { ...headers, ...more } };
}
