import { ApiError } from '../contract/errors.ts';
import type { GivenOwner } from '../contract/shapes/owner.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Application, FeatureDeclaration, FeatureNote } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { changesBetween } from './audit-log.ts';
import { mustExist, tooMany } from './checks.ts';
import { checkDeclaredName, declarationKey, declarationTarget } from './declarations.ts';
import type { Directory } from './directory.ts';
import { defaultSettings, type FeatureSettings, patchSettings } from './feature-settings.ts';
import { enteredOwners, enteredTags } from './owners.ts';
import { checkPlan, planOf } from './plans.ts';

export const featureExists = 'The application already has a declared feature of this name';

/** @throws {ApiError} `not_found` (application), `invalid_name`, `conflict` if already declared, `plan_limit` */
export function declareFeature(
  directory: Directory,
  applicationId: string,
  { name, description = null }: { readonly name: string; readonly description?: string | null },
): Promise<FeatureDeclaration> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    if (draft.featuresOf(applicationId).has(name)) {
      throw new ApiError('conflict', featureExists);
    }
    return declare(directory, draft, application, name, { ...defaultSettings, description });
  });
}

/** The settings that can be changed. The times of archiving and of the split follow from them. */
export interface FeaturePatch extends Partial<Omit<FeatureSettings, 'owners' | 'archivedAt' | 'splitAt'>> {
  readonly owners?: readonly GivenOwner[];
}

/**
 * Changes the given settings, and declares the feature if necessary.
 * @throws {ApiError} `not_found` (application), `invalid_name`, `invalid_body` (owners, tags), `plan_limit`
 */
export function patchFeature(
  directory: Directory,
  applicationId: string,
  name: string,
  patch: FeaturePatch,
): Promise<FeatureDeclaration> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const feature = draft.featuresOf(applicationId).get(name);
    const now = directory.clock.now();
    const entered = enteredPatch(draft, application, feature?.owners, patch);
    if (feature === undefined) {
      return declare(directory, draft, application, name, patchSettings(defaultSettings, entered, now));
    }
    if (Object.keys(patch).length === 0) return feature;
    const patched = { ...patchSettings(feature, entered, now), updatedAt: now };
    draft.put('features', declarationKey(applicationId, name), patched);
    const target = declarationTarget('feature', application, name);
    draft.note('feature.changed', application.teamId, target, changesBetween(feature, patched));
    return patched;
  });
}

/** @throws {ApiError} `invalid_body` */
function enteredPatch(
  draft: AccountDraft,
  application: Application,
  before: FeatureDeclaration['owners'] = [],
  { owners, tags, ...rest }: FeaturePatch,
): Partial<FeatureSettings> {
  return {
    ...rest,
    ...(owners && { owners: enteredOwners(draft, application, owners, { actor: draft.actor, before }) }),
    ...(tags && { tags: enteredTags(tags) }),
  };
}

/** Deletes the declaration, not the usage of the feature. @throws {ApiError} `not_found` */
export function deleteFeature(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    mustExist('declared feature', draft.featuresOf(applicationId).get(name));
    draft.remove('features', declarationKey(applicationId, name));
    draft.remove('notes', declarationKey(applicationId, name));
    draft.note('feature.deleted', application.teamId, declarationTarget('feature', application, name));
  });
}

/** Drafts the declaration of a feature. @throws {ApiError} `invalid_name`, `plan_limit` */
export function declare(
  directory: Directory,
  draft: AccountDraft,
  application: Application,
  name: string,
  settings: FeatureSettings,
): FeatureDeclaration {
  checkDeclaredName('a feature', name);
  const declared = draft.featuresOf(application.id).size;
  checkPlan(planOf(draft, application), 'features', declared + 1);
  const now = directory.clock.now();
  const feature: FeatureDeclaration = {
    applicationId: application.id,
    name,
    number: draft.takeNumber('feature'),
    ...settings,
    createdAt: now,
    updatedAt: now,
  };
  draft.put('features', declarationKey(application.id, name), feature);
  const target = declarationTarget('feature', application, name);
  draft.note('feature.declared', application.teamId, target, changesBetween(defaultSettings, settings));
  return feature;
}

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
export function deleteNote(directory: Directory, applicationId: string, feature: string, id: string): Promise<void> {
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
    draft.note('feature.note-deleted', application.teamId, declarationTarget('feature', application, feature));
  });
}

export function removeNotesOf(draft: AccountDraft, applicationId: string): void {
  const range = { start: `${applicationId} `, end: `${applicationId}!` };
  for (const key of [...draft.keys('notes', range)]) draft.remove('notes', key);
}
