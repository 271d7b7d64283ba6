import Type from 'typebox';
import type { Accounts } from '../accounts/accounts.ts';
import { readTime, sentNameRule, timeRule } from '../accounts/checks.ts';
import {
  cannotStop,
  changeExperiment,
  computePhase,
  deleteExperiment,
  type FoundExperiment,
  findExperiment,
  hasStarted,
  listExperiments,
  planExperiment,
  plannedDays,
  stopExperiment,
  tooManyExperiments,
} from '../accounts/experiments.ts';
import { intendedAt } from '../accounts/feature-settings.ts';
import { findOwners } from '../accounts/owners.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import { Refusal } from '../contract/errors.ts';
import {
  Experiment,
  ExperimentPatch,
  ExperimentResult,
  experimentStates,
  NewExperiment,
  Power,
  plainPlanDefaults,
  plainPlanSettings,
} from '../contract/shapes/experiment.ts';
import { type DeepReadonly, pick, text } from '../contract/shapes/fields.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { createPage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { decide, progressText, showFrozen } from '../reports/experiments/experiment-text.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { findEnvironment, oneEnvironment, unknownEnvironment } from './environments.ts';
import { computeReport, listAmounts } from './experiment-task.ts';
import { created, done, made, page } from './responses.ts';
import type { Services } from './services.ts';

const path = '/applications/:id/experiments/:experimentId';

const planRefuses = {
  invalid_name: sentNameRule('a variant'),
  invalid_time: timeRule('startAt'),
  unknown_environment: unknownEnvironment,
};

/** `/api/v2/applications/{id}/experiments`, and the power of a planned experiment. */
export const experiments: Group = {
  tag: 'Experiments',
  description: 'Experiments on features, with their plans and results.',
  endpoints: [
    endpoint('GET /applications/:id/experiments', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listExperiments',
      counted: 'any',
      summary: 'List the experiments of an application',
      query: {
        ...paging,
        feature: Type.Optional(text('Only experiments on this feature.')),
        environment: Type.Optional(text('Only experiments in this environment.')),
        state: Type.Optional(
          Type.Union(
            experimentStates.map((each) => Type.Literal(each)),
            { description: 'Only experiments in this state.' },
          ),
        ),
      },
      responses: { 200: page(Experiment, 'The oldest experiment comes first.') },
      refuses: { unknown_environment: unknownEnvironment, backpressure: tooManyReports },
      async handle({ directory, application, query }, services) {
        const { feature, environment, state, ...paged } = query;
        const number =
          environment === undefined ? undefined : findEnvironment(application.environments, environment).number;
        const now = directory.clock.now();
        const wanted = listExperiments(directory, application.id).filter(
          (each) =>
            (feature === undefined || each.feature.name === feature) &&
            (number === undefined || each.experiment.environment === number) &&
            (state === undefined || computePhase(each.experiment, now) === state),
        );
        const items = wanted.map((each) => ({ ...each, number: each.experiment.number }));
        const { items: found, nextCursor } = createPage(items, paged, (each) => each);
        const shown: DeepReadonly<Experiment>[] = [];
        // Request one report at a time, because the report thread serves teams round robin.
        for (const each of found) shown.push(await shownWithUsers(services, application, each, now));
        return ok({ items: shown, nextCursor });
      },
    }),
    endpoint('POST /applications/:id/experiments', {
      access: { within: 'application', least: 'User' },
      operationId: 'planExperiment',
      summary: 'Plan an experiment',
      description:
        'The experiment starts at `startAt`, and its result is frozen when the plan is met. An undeclared feature is declared.',
      body: NewExperiment,
      responses: { 201: made(Experiment, 'The experiment.') },
      refuses: {
        ...planRefuses,
        plan_limit: describeTierLimit('free', 'features'),
        conflict: tooManyExperiments.feature,
      },
      async handle({ directory, application, body }) {
        const { feature, ...plan } = body;
        const now = directory.clock.now();
        const found = await planExperiment(directory, application.id, feature, {
          ...plainPlanDefaults,
          split: null,
          startAt: now,
          endAt: null,
          ...entered(application, plan),
        });
        const { id } = found.experiment;
        return created(
          ['applications', application.id, 'experiments', id],
          showExperiment(directory, application, found, now),
        );
      },
    }),
    endpoint(`GET ${path}`, {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'getExperiment',
      counted: 'any',
      summary: 'Read an experiment',
      responses: { 200: jsonResponse(Experiment, 'The experiment.') },
      refuses: { backpressure: tooManyReports },
      async handle({ directory, application, params: { experimentId } }, services) {
        const found = findExperiment(directory, application.id, experimentId);
        return ok(await shownWithUsers(services, application, found, directory.clock.now()));
      },
    }),
    endpoint(`PATCH ${path}`, {
      access: { within: 'application', least: 'User' },
      operationId: 'changeExperiment',
      summary: 'Change or stop an experiment',
      description:
        'After the start, only the name and the hypothesis can be changed. `stop` freezes the current result, and marks the experiment as stopped early.',
      body: ExperimentPatch,
      responses: { 200: jsonResponse(Experiment, 'The experiment after the change.') },
      refuses: { ...planRefuses, conflict: hasStarted, backpressure: tooManyReports },
      async handle({ directory, application, params: { experimentId }, body }, services) {
        const { stop, ...patch } = body;
        let found = findExperiment(directory, application.id, experimentId);
        const isRunning = computePhase(found.experiment, directory.clock.now()) === 'running';
        if (stop !== undefined && !isRunning) throw new Refusal('conflict', cannotStop);
        if (Object.keys(patch).length > 0) {
          const changes = entered(application, patch);
          found = await changeExperiment(directory, application.id, experimentId, changes);
        }
        if (stop !== undefined) {
          const { result } = await computeReport(services, application, found, { ending: 'stopped' });
          const { state: _, frozen: __, daily: ___, ...figures } = result;
          found = await stopExperiment(directory, application.id, experimentId, stop, figures);
        }
        return ok(showExperiment(directory, application, found, directory.clock.now()));
      },
    }),
    endpoint(`DELETE ${path}`, {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteExperiment',
      summary: 'Delete an experiment and its result',
      responses: { 204: done('The experiment is deleted.') },
      handle: ({ directory, application, params }) => deleteExperiment(directory, application.id, params.experimentId),
    }),
    endpoint(`GET ${path}/result`, {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'readExperimentResult',
      counted: 'any',
      summary: 'Read the result of an experiment',
      description:
        'While the experiment runs, the intervals are valid on every day, and `outcome` is not set. docs/semantics.md describes the method.',
      responses: { 200: jsonResponse(ExperimentResult, 'The result.') },
      refuses: { backpressure: tooManyReports },
      async handle({ directory, application, params: { experimentId } }, services) {
        const found = findExperiment(directory, application.id, experimentId);
        return ok((await computeReport(services, application, found)).result);
      },
    }),
    endpoint('GET /applications/:id/features/:feature/power', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'readPower',
      counted: 'any',
      summary: 'Estimate the duration of an experiment on a feature',
      description: 'The estimate is based on the users and checks of the feature in the last 28 days.',
      query: {
        ...oneEnvironment.query,
        metric: Type.Optional(text('Primary metric; by default `used`.')),
        base: Type.Optional(text('Base variant.')),
      },
      responses: { 200: jsonResponse(Power, 'The estimate.') },
      refuses: { ...oneEnvironment.refuses, backpressure: tooManyReports },
      async handle({ directory, application, query, params: { feature } }, { reports }) {
        const { number } = findEnvironment(application.environments, query.environment);
        const now = directory.clock.now();
        const declaration = directory.getFeatures(application.id).get(feature);
        const split = (declaration && intendedAt(declaration, now)?.split) ?? null;
        const { metric = 'used', base } = query;
        const amounts = listAmounts(directory, application.id);
        const task = { environment: number, feature, metric, base, split, amounts, now };
        return ok(await reports.make(application.teamId, 'power', task));
      },
    }),
  ],
};

/** Shows an experiment. Counts the users only if the plan has a wanted number of users. */
async function shownWithUsers(
  services: Services,
  application: Application,
  found: FoundExperiment,
  now: number,
): Promise<DeepReadonly<Experiment>> {
  const { experiment } = found;
  const isCounted = experiment.users !== null && computePhase(experiment, now) === 'running';
  const users = isCounted ? (await computeReport(services, application, found)).users : undefined;
  return showExperiment(services.directory, application, found, now, users);
}

/** Converts a plan for the accounts. @throws {Refusal} `invalid_time`, `unknown_environment` */
function entered<Plan extends Partial<Omit<NewExperiment, 'feature'>>>(application: Application, plan: Plan) {
  const { environment, split, startAt, endAt, ...rest } = plan;
  return {
    ...rest,
    ...(environment !== undefined && { environment: findEnvironment(application.environments, environment).number }),
    ...(split !== undefined && { split: split && Object.entries(split) }),
    ...(startAt !== undefined && { startAt: readTime('startAt', startAt) }),
    ...(endAt !== undefined && { endAt: readTime('endAt', endAt) }),
  } as Omit<Plan, 'environment' | 'split' | 'startAt' | 'endAt'> & {
    readonly environment: number;
    readonly startAt?: number;
  };
}

const dayMs = 86_400_000;

/**
 * Formats an experiment for a response.
 * @param users number of users of the variant with the fewest users, if counted
 */
export function showExperiment(
  accounts: Accounts,
  application: Application,
  { feature, experiment }: FoundExperiment,
  now: number,
  users?: number,
): DeepReadonly<Experiment> {
  const { id, split, by, stopped, result } = experiment;
  const { users: planned, guardrails, ...plan } = pick(experiment, plainPlanSettings);
  const { from, to } = plannedDays(experiment);
  const days = to === null ? null : to - from;
  const end = result?.at ?? now;
  const day = end < experiment.startAt ? 0 : Math.max(1, Math.floor(end / dayMs) - from + 1);
  return {
    id,
    feature: feature.name,
    ...plan,
    by,
    owners: findOwners(accounts, application, feature.name, feature).owners,
    environment: application.environments.find(({ number }) => number === experiment.environment)?.name ?? null,
    split: split && Object.fromEntries(split),
    startAt: timeText(experiment.startAt),
    endAt: timeText(experiment.endAt),
    users: planned,
    guardrails,
    state: computePhase(experiment, now),
    progress: {
      day: days === null ? day : Math.min(day, days),
      days,
      users: users ?? null,
      text: result === undefined ? progressText(experiment, { now, users }) : '',
    },
    finishedAt: timeText(result?.at ?? null),
    stopped: stopped?.reason ?? null,
    outcome: result?.figures.outcome ?? null,
    decision: result === undefined ? null : decide(result.figures, result.figures.outcome),
    verdict: showFrozen(experiment)?.text ?? null,
    createdAt: timeText(experiment.createdAt),
    updatedAt: timeText(experiment.updatedAt),
  };
}
