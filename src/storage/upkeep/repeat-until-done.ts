import type { Maintenance } from '../aggregate/maintain.ts';
import type { UsageEngine } from '../commit/usage-engine.ts';

/** Dependencies of upkeep steps. */
export interface StepDeps {
  readonly usageEngine: Pick<UsageEngine, 'maintain' | 'passed'>;
  /** Resolves after `ms`: false if the service is stopping. */
  pause(ms: number): Promise<boolean>;
}

/** Pause between two steps, so that upkeep takes only a small part of a worker's time. */
const betweenStepsMs = 2;

/**
 * Repeats a step until it touches nothing.
 * @returns false if the service is stopping
 * @throws {CommitFailed} if the store rejected a step
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
