import type { Directory } from '../accounts/directory.ts';
import type { FoundExperiment } from '../accounts/experiments.ts';
import { intendedThroughout } from '../accounts/feature-settings.ts';
import type { ExperimentReport, ExperimentTask } from '../reports/experiments/experiment-report.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { Services } from './services.ts';

/** Computes the result of an experiment. A deleted environment has no counts. */
export function computeReport(
  { reports, directory }: Services,
  { teamId }: Application,
  found: FoundExperiment,
  more: Pick<ExperimentTask, 'ending'> = {},
): Promise<ExperimentReport> {
  return reports.make(teamId, 'experiment', { ...createTask(directory, found), ...more });
}

/**
 * Creates the task that computes the result of an experiment. The intended split comes from the plan. If the plan has
 * no split, the feature's split is used if it was the same in the whole period.
 */
export function createTask(
  directory: Directory,
  { feature, experiment }: FoundExperiment,
  now = directory.clock.now(),
): ExperimentTask {
  const end = Math.min(now, experiment.stopped?.at ?? now, experiment.endAt ?? now);
  const split = experiment.split ?? intendedThroughout(feature, experiment.startAt, end);
  const environment = { number: experiment.environment };
  const amounts = listAmounts(directory, feature.applicationId);
  return { environment, feature: feature.name, experiment, split, amounts, now };
}

/** Names of an application's metrics that have a unit. */
export function listAmounts(directory: Directory, applicationId: string): readonly string[] {
  return [...directory.getMetrics(applicationId).values()].filter(({ unit }) => unit !== null).map(({ name }) => name);
}
