import type { Maintenance } from '../aggregate/maintain.ts';
import type { Committer } from '../commit/committer.ts';

/** What upkeep runs its steps with. */
export interface StepDeps {
  /** The worker that owns an application's data. */
  committerOf(applicationNumber: number): Pick<Committer, 'maintain'>;
  /** Resolves after `ms`: false when the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

/** Pause between two steps, so that upkeep takes only a small part of a worker's time. */
const betweenStepsMs = 2;

/**
 * Repeats a step until it touches nothing any more.
 * @returns false when the service is stopping
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
