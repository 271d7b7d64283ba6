import { Refusal } from '../contract/errors.ts';
import type { ExperimentFigures } from '../contract/shapes/experiment-figures.ts';
import type {
  Application,
  AuditEntry,
  Experiment,
  ExperimentPlan,
  FeatureDeclaration,
} from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import type { Accounts } from './accounts.ts';
import { checkSentName, mustExist, tooMany } from './checks.ts';
import { declarationKey } from './declarations.ts';
import type { Directory } from './directory.ts';
import { defaultSettings } from './feature-settings.ts';
import { declare } from './features.ts';

/** Maximum numbers of experiments of a feature and an application. They are limited because all are in memory. */
const most = { feature: 20, application: 200 };

export const tooManyExperiments = {
  feature: `${tooMany('experiments of a feature', most.feature)}: delete an old experiment`,
  application: `${tooMany('experiments of an application', most.application)}: delete an old experiment`,
};

export const hasStarted =
  'The experiment has started, so only its name and hypothesis can be changed. Stop it, and plan another experiment';

export const cannotStop = 'Only a running experiment can be stopped; an experiment that has not started can be deleted';

const dayMs = 86_400_000;

/** Minimum length of an experiment in days: a week, which contains each weekday. */
const leastDays = 7;
/** Maximum length of an experiment in days. */
export const mostDays = 366;

/**
 * Returns the whole UTC days of an experiment, as numbers of days since the epoch. `to` is exclusive, and `null`
 * without a planned end.
 */
export function plannedDays({ startAt, endAt }: Pick<ExperimentPlan, 'startAt' | 'endAt'>) {
  return { from: Math.ceil(startAt / dayMs), to: endAt === null ? null : Math.floor(endAt / dayMs) };
}

/**
 * True if a running experiment might have met its plan: its end has passed or, if it needs a number of users, its first
 * week has passed.
 */
export function mayBeMet({ startAt, endAt, users }: ExperimentPlan, at: number): boolean {
  const { from, to } = plannedDays({ startAt, endAt });
  const today = Math.floor(at / dayMs);
  return to !== null && users === null ? today >= to : today >= from + leastDays;
}

type ExperimentPhase = 'planned' | 'running' | 'finished' | 'stopped';

export function computePhase({ startAt, stopped, result }: Experiment, now: number): ExperimentPhase {
  if (stopped !== undefined) return 'stopped';
  if (result !== undefined) return 'finished';
  return now < startAt ? 'planned' : 'running';
}

export interface FoundExperiment {
  readonly feature: FeatureDeclaration;
  readonly experiment: Experiment;
}

export function listExperiments(accounts: Accounts, applicationId: string): readonly FoundExperiment[] {
  return [...accounts.getFeatures(applicationId).values()]
    .flatMap((feature) => (feature.experiments ?? []).map((experiment) => ({ feature, experiment })))
    .sort((a, b) => a.experiment.number - b.experiment.number);
}

/** @throws {Refusal} `not_found` */
export function findExperiment(accounts: Accounts, applicationId: string, id: string): FoundExperiment {
  return mustExist(
    'experiment',
    listExperiments(accounts, applicationId).find(({ experiment }) => experiment.id === id),
  );
}

/**
 * Plans an experiment. Declares the feature if necessary.
 * @throws {Refusal} `not_found`, `invalid_name`, `invalid_time`, `invalid_body`, `conflict` if there are too many
 * experiments, `plan_limit`
 */
export function planExperiment(
  directory: Directory,
  applicationId: string,
  name: string,
  plan: ExperimentPlan,
): Promise<FoundExperiment> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const known = tx.getFeatures(applicationId).get(name);
    const feature = known ?? declare(directory, tx, application, name, defaultSettings);
    checkPlanned(tx, application, plan, directory.clock.now());
    const own = feature.experiments ?? [];
    if (own.length >= most.feature) throw new Refusal('conflict', tooManyExperiments.feature);
    if (listExperiments(tx, applicationId).length >= most.application)
      throw new Refusal('conflict', tooManyExperiments.application);
    const number = tx.takeNumber('experiment');
    const now = directory.clock.now();
    const by = tx.actor.name;
    const experiment: Experiment = { id: String(number), number, ...plan, by, createdAt: now, updatedAt: now };
    const changed = { ...feature, experiments: [...own, experiment] };
    tx.put('features', declarationKey(applicationId, name), changed);
    tx.note('experiment.planned', application.teamId, describeTarget(application, name, experiment));
    return { feature: changed, experiment };
  });
}

/**
 * Changes the plan of an experiment that has not started, or the name and hypothesis of any experiment.
 * @throws {Refusal} as `planExperiment`, and `conflict` if it has started
 */
export function changeExperiment(
  directory: Directory,
  applicationId: string,
  id: string,
  patch: Partial<ExperimentPlan>,
): Promise<FoundExperiment> {
  return change(directory, applicationId, id, (tx, application, experiment) => {
    const now = directory.clock.now();
    const { name: _, hypothesis: __, ...others } = patch;
    const changed = { ...experiment, ...patch, updatedAt: now };
    if (Object.keys(others).length > 0) {
      checkPlanned(tx, application, changed, now);
      if (computePhase(experiment, now) !== 'planned') throw new Refusal('conflict', hasStarted);
    }
    return ['experiment.changed', changed];
  });
}

/** @throws {Refusal} `not_found`, `conflict` unless it is running */
export function stopExperiment(
  directory: Directory,
  applicationId: string,
  id: string,
  reason: string,
  figures: ExperimentFigures,
): Promise<FoundExperiment> {
  return change(directory, applicationId, id, (_draft, _application, experiment) => {
    const at = directory.clock.now();
    if (computePhase(experiment, at) !== 'running') throw new Refusal('conflict', cannotStop);
    const stopped = { at, reason };
    return ['experiment.stopped', { ...experiment, stopped, result: { at, figures }, updatedAt: at }];
  });
}

/**
 * Freezes the result of an experiment whose plan is met, and announces the result. Of several nodes that call this,
 * only one freezes the result.
 * @returns true if this call froze the result
 */
export function finishExperiment(
  directory: Directory,
  applicationId: string,
  { feature: { name }, experiment: { id } }: FoundExperiment,
  figures: ExperimentFigures,
): Promise<boolean> {
  return directory.change((tx) => {
    const application = tx.applications.get(applicationId);
    const feature = tx.getFeatures(applicationId).get(name);
    const experiment = feature?.experiments?.find((each) => each.id === id);
    // Another request or node can have stopped, deleted or finished the experiment since it was read.
    if (application === undefined || feature === undefined || experiment === undefined) return false;
    if (experiment.result !== undefined) return false;
    const at = directory.clock.now();
    const finished = { ...experiment, result: { at, figures }, updatedAt: at };
    putExperiment(tx, feature, finished);
    tx.note('experiment.finished', application.teamId, describeTarget(application, name, finished));
    tx.announce('experiment.finished', application.teamId, {
      application: { id: application.id, name: application.name },
      environment: application.environments.find(({ number }) => number === finished.environment)?.name ?? null,
      feature: name,
      experiment: { id, name: finished.name },
      outcome: figures.outcome,
      verdict: figures.text,
      finishedAt: new Date(at).toISOString(),
    });
    return true;
  });
}

/** @throws {Refusal} `not_found` */
export function deleteExperiment(directory: Directory, applicationId: string, id: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const { feature, experiment } = findExperiment(tx, applicationId, id);
    const left = (feature.experiments ?? []).filter((each) => each.id !== id);
    tx.put('features', declarationKey(applicationId, feature.name), { ...feature, experiments: left });
    tx.note('experiment.deleted', application.teamId, describeTarget(application, feature.name, experiment));
  });
}

type ExperimentChange = readonly [action: 'experiment.changed' | 'experiment.stopped', experiment: Experiment];

function change(
  directory: Directory,
  applicationId: string,
  id: string,
  edit: (tx: AccountTransaction, application: Application, experiment: Experiment) => ExperimentChange,
): Promise<FoundExperiment> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const { feature, experiment } = findExperiment(tx, applicationId, id);
    const [action, changed] = edit(tx, application, experiment);
    tx.note(action, application.teamId, describeTarget(application, feature.name, changed));
    return { feature: putExperiment(tx, feature, changed), experiment: changed };
  });
}

function putExperiment(tx: AccountTransaction, feature: FeatureDeclaration, changed: Experiment): FeatureDeclaration {
  const experiments = (feature.experiments ?? []).map((each) => (each.id === changed.id ? changed : each));
  const put = { ...feature, experiments };
  tx.put('features', declarationKey(feature.applicationId, feature.name), put);
  return put;
}

function describeTarget({ id }: Application, feature: string, { name }: Experiment): AuditEntry['target'] {
  return { type: 'experiment', id, name: `${feature}: ${name}` };
}

const planRules = {
  end: `\`endAt\` must be ${leastDays} to ${mostDays} whole UTC days after the start`,
  past: '`endAt` must be in the future',
  start: `\`startAt\` must be at most ${mostDays} days from now`,
  neither: '`endAt` or `users` must be set',
  metric: (name: string) => `\`metric\` must be used, viewed or the name of a declared counter, not ${name}`,
  base: '`base` must be one of the variants of the split',
};

/** @throws {Refusal} */
function checkPlanned(tx: AccountTransaction, { id }: Application, plan: ExperimentPlan, now: number): void {
  checkSentName('a variant', plan.base);
  for (const [variant] of plan.split ?? []) checkSentName('a variant', variant);
  if (plan.split !== null && !plan.split.some(([variant]) => variant === plan.base))
    throw new Refusal('invalid_body', planRules.base);
  if (plan.endAt === null && plan.users === null) throw new Refusal('invalid_body', planRules.neither);
  const { from, to } = plannedDays(plan);
  if (Math.abs(plan.startAt - now) > mostDays * dayMs) throw new Refusal('invalid_time', planRules.start);
  if (plan.endAt !== null && plan.endAt <= now) throw new Refusal('invalid_time', planRules.past);
  if (to !== null && (to - from < leastDays || to - from > mostDays)) throw new Refusal('invalid_time', planRules.end);
  const metrics = tx.getMetrics(id);
  for (const { metric } of [plan, ...plan.guardrails]) {
    if (metric === 'used' || metric === 'viewed' || metrics.get(metric)?.kind === 'counter') continue;
    throw new Refusal('invalid_body', planRules.metric(metric));
  }
}
