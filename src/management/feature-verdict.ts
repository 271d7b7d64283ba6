import { Refusal } from '../contract/errors.ts';
import { FeatureSplit } from '../contract/shapes/split.ts';
import { FeatureSenders, Verdict } from '../contract/shapes/verdict.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { ok } from '../http/responses.ts';
import { columnsIn } from '../reports/exports/row-writer.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { undeclared } from '../reports/verdicts/verdict-reasons.ts';
import { endpoint, type Group } from './endpoint.ts';
import { anyEnvironment, findEnvironment, findEnvironments, oneEnvironment } from './environments.ts';
import { getStaleness, mustBeKnown, nearestDeclared, unknownFeature } from './features.ts';
import { format, orInRows, respondWithRows } from './format.ts';

const senderColumns = columnsIn(FeatureSenders, 'items');

const none: FeatureSenders = { items: [], othersLeftOut: false };

/** The split that is shown for a feature without an intended split. */
const noSplit: FeatureSplit = {
  intended: {},
  actual: null,
  of: 'checks',
  state: 'unknown',
  planned: false,
  since: null,
  text: null,
};

const refuses = { not_found: unknownFeature, backpressure: tooManyReports };

/** `/api/v2/applications/{id}/features/{feature}/senders`, `…/verdict` and `…/split`. */
export const featureVerdict: Group = {
  tag: 'Verdicts',
  description: 'The senders that check a feature, and the verdict on its use.',
  endpoints: [
    endpoint('GET /applications/:id/features/:feature/senders', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listSenders',
      counted: 'any',
      summary: 'List the senders that check a feature',
      description:
        'A sender is kept for 90 days after its last check of the feature in an environment. Browsers and apps are distinguished by family and major version, servers by their name and the `appVersion` of their reports.',
      query: { ...anyEnvironment.query, ...format },
      responses: { 200: orInRows(jsonResponse(FeatureSenders, 'The senders.'), senderColumns) },
      refuses: { ...refuses, ...anyEnvironment.refuses },
      async handle(call, { reports }) {
        const { directory, application, query } = call;
        const { feature } = call.params;
        const { teamId } = application;
        const environments = findEnvironments(application.environments, query.environment);
        const task = { environments, feature, now: directory.clock.now() };
        const senders = await reports.make(teamId, 'senders', task);
        const isDeclared = directory.getFeatures(application.id).has(feature);
        if (senders === undefined && !isDeclared) throw new Refusal('not_found', unknownFeature);
        return respondWithRows(call, senders ?? none, senderColumns, ({ items }) => items);
      },
    }),
    endpoint('GET /applications/:id/features/:feature/verdict', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'judgeFeature',
      counted: 'any',
      summary: 'Read the verdict on a feature',
      description:
        'The verdict tells whether a feature is still in use, with the reasons. If the senders no longer report, the verdict is `cannot_tell`: silence does not prove that a feature is unused. Without `environment`, the verdict covers all environments.',
      query: anyEnvironment.query,
      responses: { 200: jsonResponse(Verdict, 'The verdict, with its reasons.') },
      refuses: { ...refuses, ...anyEnvironment.refuses },
      async handle({ directory, application, query, params: { feature } }, services) {
        const declaration = directory.getFeatures(application.id).get(feature);
        const declared = declaration === undefined ? [] : [declaration];
        const { teamId } = application;
        const environments = findEnvironments(application.environments, query.environment);
        const task = { environments, declared, feature, ...getStaleness(services) };
        const said = await services.reports.make(teamId, 'verdict', task);
        if (said === undefined) throw new Refusal('not_found', unknownFeature);
        if (said.declared) return ok({ ...said, nearest: null });
        const nearest = nearestDeclared(services, application, feature);
        return ok({ ...said, nearest, reasons: [...said.reasons, undeclared(nearest)] });
      },
    }),
    endpoint('GET /applications/:id/features/:feature/split', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'readSplit',
      counted: 'any',
      summary: 'Read the intended and the actual split of a feature',
      description:
        'The intended split is the current split of the rollout plan, or otherwise the declared split. The actual split is at most 20 seconds old.',
      query: oneEnvironment.query,
      responses: { 200: jsonResponse(FeatureSplit, 'The split.') },
      refuses: { ...oneEnvironment.refuses, not_found: unknownFeature, backpressure: tooManyReports },
      async handle({ directory, application, query, params: { feature } }, services) {
        const { number } = findEnvironment(application.environments, query.environment);
        const declaration = directory.getFeatures(application.id).get(feature);
        mustBeKnown(declaration, await services.sights.of(application, feature));
        const declared = declaration === undefined ? [] : [declaration];
        const task = { environment: number, declared, now: directory.clock.now() };
        const splits = await services.reports.make(application.teamId, 'splits', task);
        return ok(splits.get(feature) ?? noSplit);
      },
    }),
  ],
};
