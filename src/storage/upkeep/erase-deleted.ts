import type { Deletion } from '../lmdb/records.ts';
import { repeatUntilDone, type StepDeps } from './repeat-until-done.ts';

/** Dependencies on the rest of the service. */
export interface EraseDeps extends StepDeps {
  readonly deletions: ReadonlyMap<string, Deletion>;
  /** Resolves when all earlier packets of an application are written or refused: see `Intake`. */
  settled(applicationNumber: number): Promise<void>;
  /** Drops cached data. */
  forget(deletion: Deletion): void;
  /** Called when nothing is left on disk. */
  finished(deletion: Deletion): Promise<void>;
}

/** Maximum number of records per step. They are adjacent, so they are on few pages, and a step takes no longer than a roll-up step. */
const stepLimit = 64;

/**
 * Removes the data of deleted applications and environments. The change that requests a deletion also makes the application or
 * environment unknown, so no packet joins a batch for it any more. Earlier packets are written or refused before the first step,
 * so nothing on this machine comes back after the last one. The deletion ends when no other machine can send more. After a crash
 * the next process continues.
 * @returns false if the service is stopping
 * @throws {ApiError} `store_unavailable`
 * @throws {CommitFailed} if the store rejected a step
 */
export async function eraseDeleted(deps: EraseDeps): Promise<boolean> {
  for (const deletion of [...deps.deletions.values()]) {
    const { application } = deletion;
    await deps.settled(application);
    deps.forget(deletion);
    const step = { task: 'deletion', deletion, limit: stepLimit } as const;
    if (!(await repeatUntilDone(deps, application, step))) return false;
    if (await deps.usageEngine.passed(deletion)) await deps.finished(deletion);
  }
  return true;
}
