import type { Deletion } from '../store/records.ts';
import { repeatUntilDone, type StepDeps } from './repeat-until-done.ts';

/** What it takes to erase what was deleted. */
export interface EraseDeps extends StepDeps {
  readonly deletions: ReadonlyMap<string, Deletion>;
  /** Resolves when nothing that an application sent before can be written any more: see `Intake`. */
  settled(applicationNumber: number): Promise<void>;
  /** Lets go of what is in memory. */
  forget(deletion: Deletion): void;
  /** Nothing is left on disk. */
  finished(deletion: Deletion): Promise<void>;
}

/** Records a step may remove: neighbours, so they lie on few pages, and a step takes no longer than one of the roll-up. */
const stepLimit = 64;

/**
 * Removes what is kept of what was deleted. A deletion is requested with the change that makes its application or
 * environment unknown, so no packet joins a batch for it any more. What had joined one before is written, or refused, before
 * the first step: nothing comes back after the last one. Whatever ends the process, the next one starts again with what is left.
 * Gives false when the service is stopping.
 * @throws {ApiError} `store_unavailable`
 * @throws {CommitFailed} when the store did not take a step
 */
export async function eraseDeleted(parts: EraseDeps): Promise<boolean> {
  for (const deletion of [...parts.deletions.values()]) {
    const { application } = deletion;
    await parts.settled(application);
    parts.forget(deletion);
    const step = { task: 'deletion', deletion, limit: stepLimit } as const;
    if (!(await repeatUntilDone(parts, application, step))) return false;
    await parts.finished(deletion);
  }
  return true;
}
