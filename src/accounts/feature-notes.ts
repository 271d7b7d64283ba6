import { ApiError } from '../contract/errors.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { FeatureNote } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { mustExist, tooMany } from './checks.ts';
import { declarationKey, declarationTarget } from './declarations.ts';
import type { Directory } from './directory.ts';

const maxNotes = 100;

export const tooManyNotes = `${tooMany('notes of a feature', maxNotes)}: delete one that is no longer needed`;

interface NewNote {
  readonly at: number;
  /** Name of an environment of the application; `null` for all environments. */
  readonly environment: string | null;
  readonly text: string;
}

export function notesOf(
  { notes }: Pick<AccountTables, 'notes'>,
  applicationId: string,
  feature: string,
): readonly FeatureNote[] {
  notes.resetReadTxn(); // Include everything acknowledged before this request.
  return notes.get(declarationKey(applicationId, feature)) ?? [];
}

/** @throws {ApiError} `not_found` (application), `conflict` if there are too many */
export function addNote(
  directory: Directory,
  applicationId: string,
  feature: string,
  { at, environment, text }: NewNote,
): Promise<FeatureNote> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const key = declarationKey(applicationId, feature);
    const notes = draft.get('notes', key) ?? [];
    if (notes.length >= maxNotes) throw new ApiError('conflict', tooManyNotes);
    const id = String(draft.takeNumber('note'));
    const note: FeatureNote = { id, at, environment, text, by: draft.actor.name };
    const byTime = [...notes, note].sort((one, other) => one.at - other.at);
    draft.put('notes', key, byTime);
    draft.note('feature.noted', application.teamId, declarationTarget('feature', application, feature));
    return note;
  });
}

/** @throws {ApiError} `not_found` */
export function deleteNote(
  directory: Directory,
  applicationId: string,
  feature: string,
  id: string,
): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const key = declarationKey(applicationId, feature);
    const notes = draft.get('notes', key) ?? [];
    mustExist(
      'note',
      notes.find((note) => note.id === id),
    );
    const left = notes.filter((note) => note.id !== id);
    if (left.length > 0) draft.put('notes', key, left);
    else draft.remove('notes', key);
    draft.note(
      'feature.note-deleted',
      application.teamId,
      declarationTarget('feature', application, feature),
    );
  });
}

export function removeNotesOf(draft: AccountDraft, applicationId: string): void {
  const range = { start: `${applicationId} `, end: `${applicationId}!` };
  for (const key of [...draft.keys('notes', range)]) draft.remove('notes', key);
}
