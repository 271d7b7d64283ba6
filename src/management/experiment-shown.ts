import type { Accounts } from '../accounts/accounts.ts';
import { type FoundExperiment, phaseOf, plannedDays } from '../accounts/experiments.ts';
import { ownersOf } from '../accounts/owners.ts';
import { type Experiment, plainPlanSettings } from '../contract/shapes/experiment.ts';
import { pick, type Shown } from '../contract/shapes/fields.ts';
import { progressText } from '../reports/experiments/experiment-text.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application } from '../storage/lmdb/records.ts';

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
    owners: ownersOf(accounts, application, feature.name, feature).owners,
    environment:
      application.environments.find(({ number }) => number === experiment.environment)?.name ?? null,
    split: split && Object.fromEntries(split),
    startAt: timeText(experiment.startAt),
    endAt: timeText(experiment.endAt),
    users: planned,
    guardrails,
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
