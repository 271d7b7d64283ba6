import type { Deletion } from '../lmdb/records.ts';
import { repeatUntilDone, type StepDeps } from './repeat-until-done.ts';

/** What erasing needs of the rest of the service. */
export interface EraseDeps extends StepDeps {
  readonly deletions: ReadonlyMap<string, Deletion>;
  /** Resolves when everything that an application has sent before is written or refused: see `Intake`. */
  settled(applicationNumber: number): Promise<void>;
  /** Drops what is in memory. */
  forget(deletion: Deletion): void;
  /** Nothing is left on disk. */
  finished(deletion: Deletion): Promise<void>;
}

/** Most records of a step. They are adjacent, so they are on few pages, and a step takes no longer than one of the roll-up. */
const stepLimit = 64;

/**
 * Removes what is kept of deleted applications and environments. A deletion is requested by the change that makes its
 * application or environment unknown, so no packet joins a batch for it any more. Packets that joined one earlier are
 * written or refused before the first step, so nothing comes back after the last one: not from this machine, and the deletion is
 * over when nothing can come from another one. After a crash the next process continues with what is left.
 * @returns false when the service is stopping
 * @throws {ApiError} `store_unavailable`
 * @throws {CommitFailed} when the store did not take a step
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
