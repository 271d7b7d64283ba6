import type { Deletion } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import type { Directory } from './directory.ts';

/** Requests the removal of data in the background. Call it in the transaction of the deletion itself. */
export function requestDeletion(tx: AccountTransaction, deletion: Deletion): void {
  tx.put('deletions', deletionKey(deletion), deletion);
}

/** @throws {Refusal} `store_unavailable` */
export function finishDeletion(directory: Directory, deletion: Deletion): Promise<void> {
  const { target, teamId } = deletion;
  return directory.change((tx) => {
    if (!tx.has('deletions', deletionKey(deletion))) return; // Another node has completed the deletion.
    tx.remove('deletions', deletionKey(deletion));
    tx.note(`${target.type}.erased`, teamId, target);
  });
}

/** Key of the deletion of environments, or of a whole application. */
function deletionKey({ application, environments, whole }: Deletion): string {
  return whole ? `${application}` : `${application} ${environments.join(' ')}`;
}
