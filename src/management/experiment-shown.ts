import type { Accounts } from '../accounts/accounts.ts';
import type { Directory } from '../accounts/directory.ts';
import { type FoundExperiment, phaseOf, plannedDays } from '../accounts/experiments.ts';
import { intendedThroughout } from '../accounts/feature-settings.ts';
import { ownersOf } from '../accounts/owners.ts';
import { type Experiment, plainPlanSettings } from '../contract/shapes/experiment.ts';
import { pick, type Shown } from '../contract/shapes/fields.ts';
import type { ExperimentReport, ExperimentTask } from '../reports/experiments/experiment-report.ts';
import { progressText } from '../reports/experiments/experiment-text.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { ReportingDeps } from './caller.ts';

const dayMs = 86_400_000;

/** An experiment as in the API. @param users of the variant that has the fewest, if they were counted */
export function showExperiment(
  accounts: Accounts,
  application: Application,
  { feature, experiment }: FoundExperiment,
  now: number,
  users?: number,
): Shown<Experiment> {
  const { id, split, by, stopped, result } = experiment;
  const { from, to } = plannedDays(experiment);
  const days = to === null ? null : to - from;
  const end = result?.at ?? now;
  const day = end < experiment.startAt ? 0 : Math.max(1, Math.floor(end / dayMs) - from + 1);
  return {
    id,
    feature: feature.name,
    ...pick(experiment, plainPlanSettings),
    by,
    owners: ownersOf(accounts, application, feature.name, feature).owners,
    environment:
      application.environments.find(({ number }) => number === experiment.environment)?.name ?? null,
    split: split && Object.fromEntries(split),
    startAt: timeText(experiment.startAt),
    endAt: timeText(experiment.endAt),
    state: phaseOf(experiment, now),
    progress: {
      day: days === null ? day : Math.min(day, days),
      days,
      users: users ?? null,
      text: result === undefined ? progressText(experiment, { now, users }) : '',
    },
    finishedAt: timeText(result?.at ?? null),
    stopped: stopped?.reason ?? null,
    outcome: result?.figures.outcome ?? null,
    verdict: result?.figures.text ?? null,
    createdAt: timeText(experiment.createdAt),
    updatedAt: timeText(experiment.updatedAt),
  };
}

/** Computes the result of an experiment. An environment that was deleted has no counts. */
export function reportOf(
  { reports, directory }: ReportingDeps,
  { teamId }: Application,
  found: FoundExperiment,
  more: Pick<ExperimentTask, 'ending'> = {},
): Promise<ExperimentReport> {
  return reports.make(teamId, 'experiment', { ...taskOf(directory, found), ...more });
}

/** The intended split is the experiment's own, else that of the feature at its end. */
export function taskOf(
  directory: Directory,
  { feature, experiment }: FoundExperiment,
  now = directory.clock.now(),
): ExperimentTask {
  const end = Math.min(now, experiment.stopped?.at ?? now, experiment.endAt ?? now);
  const split = experiment.split ?? intendedThroughout(feature, experiment.startAt, end);
  const environment = { number: experiment.environment };
  const amounts = amountsOf(directory, feature.applicationId);
  return { environment, feature: feature.name, experiment, split, amounts, now };
}

/** The metrics of an application that have a unit. */
export function amountsOf(directory: Directory, applicationId: string): readonly string[] {
  return [...directory.metricsOf(applicationId).values()]
    .filter(({ unit }) => unit !== null)
    .map(({ name }) => name);
}
