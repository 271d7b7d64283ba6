import type { Maintenance } from '../aggregate/maintain.ts';
import type { Committer } from '../commit/committer.ts';

/** What upkeep gets its work done by. */
export interface StepDeps {
  /** The worker that alone writes to an application's data. */
  committerOf(applicationNumber: number): Pick<Committer, 'maintain'>;
  /** Resolves after `ms`; false when the service is stopping, and upkeep with it. */
  pause(ms: number): Promise<boolean>;
}

/** Between two steps, so that upkeep takes a small part of a worker's time. */
const betweenStepsMs = 2;

/**
 * Does a piece of upkeep to its end, a step at a time. Gives false when the service is stopping.
 * @throws {CommitFailed} when the store did not take a step
 */
export async function repeatUntilDone(
  { committerOf, pause }: StepDeps,
  applicationNumber: number,
  step: Maintenance,
): Promise<boolean> {
  const committer = committerOf(applicationNumber);
  while ((await committer.maintain(step)) > 0) if (!(await pause(betweenStepsMs))) return false;
  return true;
}
