import type { Deletion } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import type { Directory } from './directory.ts';

/** Requests the removal of data in the background. Draft it with the deletion itself. */
export function requestDeletion(draft: AccountDraft, deletion: Deletion): void {
  draft.put('deletions', keyOf(deletion), deletion);
}

/** @throws {ApiError} `store_unavailable` */
export function finishDeletion(directory: Directory, deletion: Deletion): Promise<void> {
  const { target, teamId } = deletion;
  return directory.change((draft) => {
    if (!draft.has('deletions', keyOf(deletion))) return; // Another node has completed it.
    draft.remove('deletions', keyOf(deletion));
    draft.note(`${target.type}.erased`, teamId, target);
  });
}

/** One environment, or the application with all that it has then. */
function keyOf({ application, environments, whole }: Deletion): string {
  return whole ? `${application}` : `${application} ${environments.join(' ')}`;
}
