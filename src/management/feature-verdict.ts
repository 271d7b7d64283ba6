import { ApiError } from '../contract/errors.ts';
import { FeatureSenders, Verdict } from '../contract/shapes/verdict.ts';
import { ok } from '../http/answer.ts';
import { type Group, jsonAnswer } from '../http/endpoint.ts';
import { endpoint } from './endpoint.ts';
import { anyEnvironment, findEnvironments } from './environments.ts';
import { columnsIn } from './exports/columns.ts';
import { answerRows, format, orInRows } from './exports/format.ts';
import { type FeatureDeps, nearestDeclared, stalenessOf, unknownFeature } from './feature-detail.ts';
import { tooManyReports } from './report-pool.ts';
import { undeclared } from './verdict-reasons.ts';

const senderColumns = columnsIn(FeatureSenders, 'items');

const none: FeatureSenders = { items: [], othersLeftOut: false };

const refuses = { not_found: unknownFeature, backpressure: tooManyReports };

/** `/api/v2/applications/{id}/features/{feature}/senders` and `…/verdict`. */
export const featureVerdict: Group<FeatureDeps> = {
  tag: 'Verdicts',
  description: 'The senders that check a feature, and whether it is still in use.',
  endpoints: [
    endpoint('GET /applications/:id/features/:feature/senders', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listSenders',
      counted: 'now',
      summary: 'List the senders that check a feature',
      description:
        'A sender is kept for 90 days after its last check of the feature in an environment. Browsers and apps are distinguished by family and major version, servers by their name and the `appVersion` of their reports.',
      query: { ...anyEnvironment.query, ...format },
      answers: { 200: orInRows(jsonAnswer(FeatureSenders, 'The senders.'), senderColumns) },
      refuses: { ...refuses, ...anyEnvironment.refuses },
      async handle(call, { reports }: FeatureDeps) {
        const { directory, application, query } = call;
        const { feature } = call.params;
        const { teamId } = application;
        const environments = findEnvironments(application.environments, query.environment);
        const task = { environments, feature, now: directory.clock.now() };
        const senders = await reports.make(teamId, 'senders', task);
        const isDeclared = directory.featuresOf(application.id).has(feature);
        if (senders === undefined && !isDeclared) throw new ApiError('not_found', unknownFeature);
        return answerRows(call, senders ?? none, senderColumns, ({ items }) => items);
      },
    }),
    endpoint('GET /applications/:id/features/:feature/verdict', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'judgeFeature',
      counted: 'now',
      summary: 'Read the verdict on a feature',
      description:
        'Whether it is still in use, with the reasons. If the senders no longer report, the verdict is `cannot_tell`: silence does not prove that a feature is unused. Without `environment`, it covers all environments.',
      query: anyEnvironment.query,
      answers: { 200: jsonAnswer(Verdict, 'The verdict, with its reasons.') },
      refuses: { ...refuses, ...anyEnvironment.refuses },
      async handle({ directory, application, query, params: { feature } }, deps: FeatureDeps) {
        const declaration = directory.featuresOf(application.id).get(feature);
        const declared = declaration === undefined ? [] : [declaration];
        const { teamId } = application;
        const environments = findEnvironments(application.environments, query.environment);
        const task = { environments, declared, feature, ...stalenessOf(deps) };
        const said = await deps.reports.make(teamId, 'verdict', task);
        if (said === undefined) throw new ApiError('not_found', unknownFeature);
        if (said.declared) return ok({ ...said, nearest: null });
        const nearest = nearestDeclared(deps, application, feature);
        return ok({ ...said, nearest, reasons: [...said.reasons, undeclared(nearest)] });
      },
    }),
  ],
};
