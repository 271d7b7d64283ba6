import Type from 'typebox';
import { createApplication, deleteApplication, maxOrigins, patchApplication } from '../accounts/applications.ts';
import { missing, mustExist, nameRule, tooMany } from '../accounts/checks.ts';
import { judgeOrigin } from '../accounts/origins.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import {
  Application,
  ApplicationPatch,
  NewApplication,
  OriginCheck,
  plainApplicationSettings,
} from '../contract/shapes/application.ts';
import { type DeepReadonly, pick } from '../contract/shapes/fields.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { createPage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application as StoredApplication } from '../storage/lmdb/records.ts';
import { checkManages, notInTeam, visibleTo } from './access.ts';
import { endpoint, type Group } from './endpoint.ts';
import { showEnvironment } from './environments.ts';
import { checkMatch, created, done, made, oneTagged, page, tagged } from './responses.ts';

const originCheck = endpoint('GET /applications/:id/origin-check', {
  access: { within: 'application', least: 'Viewer' },
  operationId: 'checkOrigin',
  summary: 'Check whether the pages of an origin may send packets',
  description:
    'Reports whether a packet with this `Origin` is accepted, and which pattern of `allowedOrigins` allows it or why every pattern rejects it.',
  query: {
    origin: Type.String({
      minLength: 1,
      description: 'The value of the `Origin` header of a browser: `https://shop.example`, or `null`.',
    }),
  },
  responses: { 200: jsonResponse(OriginCheck, 'The decision about the origin, with its reason.') },
  refuses: { invalid_query: 'origin is missing' },
  handle: ({ application, query: { origin } }) => ok({ origin, ...judgeOrigin(application.allowedOrigins, origin) }),
});

export const applications: Group = {
  tag: 'Applications',
  description: 'Applications send packets and reports. Each belongs to a team.',
  endpoints: [
    endpoint('GET /applications', {
      access: { within: 'service', least: 'Viewer', scope: 'ingest-adopt', bound: true },
      operationId: 'listApplications',
      summary: 'List the applications of your teams',
      query: paging,
      responses: { 200: page(Application, 'The oldest application comes first.') },
      handle({ directory, caller, query }) {
        return ok(createPage(visibleTo(caller, directory), query, show));
      },
    }),
    endpoint('POST /applications', {
      access: { within: 'service', least: 'Admin' },
      operationId: 'createApplication',
      summary: 'Create an application',
      body: NewApplication,
      responses: { 201: made(Application, 'The application.') },
      refuses: {
        invalid_name: nameRule('an application'),
        not_found: missing('team'),
        not_in_team: notInTeam.team,
        plan_limit: describeTierLimit('free', 'applications'),
      },
      async handle({ directory, caller, callerIn, body }) {
        const { teamId = caller.primaryTeam, ...wanted } = body;
        const own = directory.under({ check: (tx) => checkManages('team', tx, teamId, callerIn(tx)) });
        const application = await createApplication(own, { ...wanted, teamId });
        return created(['applications', application.id], show(application));
      },
    }),
    endpoint('GET /applications/:id', {
      access: { within: 'application', least: 'Viewer', scope: 'ingest-adopt' },
      operationId: 'getApplication',
      summary: 'Read an application',
      responses: { 200: oneTagged(Application, 'The application.') },
      handle: ({ application }) => tagged(show(application)),
    }),
    endpoint('PATCH /applications/:id', {
      access: { within: 'application', least: 'Admin' },
      operationId: 'changeApplication',
      summary: 'Change the settings of an application',
      description: 'The new settings apply to every packet that is sent after the response.',
      body: ApplicationPatch,
      matches: true,
      responses: { 200: oneTagged(Application, 'The application after the change.') },
      refuses: { invalid_name: nameRule('an application'), plan_limit: tooMany('allowed origins', maxOrigins) },
      async handle({ directory, application: { id }, request, body }) {
        const matched = directory.under({
          check: ({ applications }) => checkMatch(request, show(mustExist('application', applications.get(id)))),
        });
        return tagged(show(await patchApplication(matched, id, body)));
      },
    }),
    endpoint('DELETE /applications/:id', {
      access: { within: 'application', least: 'Admin', recent: true },
      operationId: 'deleteApplication',
      summary: 'Delete an application with its keys, environments and data',
      description:
        'The keys of the application are refused from now on. Its data is removed from the disk in the background. The audit log has an entry (`application.erased`) when the removal is complete.',
      responses: { 204: done('The application is deleted.') },
      handle: ({ directory, application }) => deleteApplication(directory, application.id),
    }),
    originCheck,
  ],
};

/**
 * Applications as shown in the API, cached by stored record, because a record never changes. Formatting times is the
 * slowest step, and the cache avoids it.
 */
const shown = new WeakMap<StoredApplication, DeepReadonly<Application>>();

function show(application: StoredApplication): DeepReadonly<Application> {
  const known = shown.get(application);
  if (known !== undefined) return known;
  const made = makeShown(application);
  shown.set(application, made);
  return made;
}

function makeShown(application: StoredApplication): DeepReadonly<Application> {
  const { id, teamId } = application;
  const { name, ...settings } = pick(application, plainApplicationSettings);
  // Keep the order of the fields, because the entity tag is a hash of the JSON text.
  return {
    id,
    name,
    teamId,
    ...settings,
    environments: application.environments.map(showEnvironment),
    createdAt: timeText(application.createdAt),
    updatedAt: timeText(application.updatedAt),
  };
}
