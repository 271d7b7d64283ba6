import type { Maintenance } from '../aggregate/maintain.ts';
import type { UsageEngine } from '../commit/usage-engine.ts';

/** What upkeep runs its steps with. */
export interface StepDeps {
  readonly usageEngine: Pick<UsageEngine, 'maintain' | 'passed'>;
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
  { usageEngine, pause }: StepDeps,
  applicationNumber: number,
  step: Maintenance,
): Promise<boolean> {
  while ((await usageEngine.maintain(applicationNumber, step)) > 0)
    if (!(await pause(betweenStepsMs))) return false;
  return true;
}
