import { Refusal } from '../contract/errors.ts';
import type { GivenOwner } from '../contract/shapes/owner.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Application, FeatureDeclaration, FeatureNote } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { changesBetween } from './audit-log.ts';
import { mustExist, tooMany } from './checks.ts';
import { checkDeclaredName, declarationKey, declarationTarget } from './declarations.ts';
import type { Directory } from './directory.ts';
import { defaultSettings, type FeatureSettings, patchSettings } from './feature-settings.ts';
import { enteredOwners, enteredTags } from './owners.ts';
import { checkTierLimit, getTier } from './tiers.ts';

export const featureExists = 'The application already has a declared feature of this name';

/** @throws {Refusal} `not_found` (application), `invalid_name`, `conflict` if already declared, `plan_limit` */
export function declareFeature(
  directory: Directory,
  applicationId: string,
  { name, description = null }: { readonly name: string; readonly description?: string | null },
): Promise<FeatureDeclaration> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    if (tx.getFeatures(applicationId).has(name)) {
      throw new Refusal('conflict', featureExists);
    }
    return declare(directory, tx, application, name, { ...defaultSettings, description });
  });
}

/** Settings that a caller can change. The times of archiving and of the split derive from them. */
export interface FeaturePatch extends Partial<Omit<FeatureSettings, 'owners' | 'archivedAt' | 'splitAt'>> {
  readonly owners?: readonly GivenOwner[];
}

/**
 * Changes the given settings, and declares the feature if necessary.
 * @throws {Refusal} `not_found` (application), `invalid_name`, `invalid_body` (owners, tags), `plan_limit`
 */
export function patchFeature(
  directory: Directory,
  applicationId: string,
  name: string,
  patch: FeaturePatch,
): Promise<FeatureDeclaration> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const feature = tx.getFeatures(applicationId).get(name);
    const now = directory.clock.now();
    const entered = enteredPatch(tx, application, feature?.owners, patch);
    if (feature === undefined) {
      return declare(directory, tx, application, name, patchSettings(defaultSettings, entered, now));
    }
    if (Object.keys(patch).length === 0) return feature;
    const patched = { ...patchSettings(feature, entered, now), updatedAt: now };
    tx.put('features', declarationKey(applicationId, name), patched);
    const target = declarationTarget('feature', application, name);
    tx.note('feature.changed', application.teamId, target, changesBetween(feature, patched));
    return patched;
  });
}

/** @throws {Refusal} `invalid_body` */
function enteredPatch(
  tx: AccountTransaction,
  application: Application,
  before: FeatureDeclaration['owners'] = [],
  { owners, tags, ...rest }: FeaturePatch,
): Partial<FeatureSettings> {
  return {
    ...rest,
    ...(owners && { owners: enteredOwners(tx, application, owners, { actor: tx.actor, before }) }),
    ...(tags && { tags: enteredTags(tags) }),
  };
}

/** Deletes the declaration of a feature, but not its usage. @throws {Refusal} `not_found` */
export function deleteFeature(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    mustExist('declared feature', tx.getFeatures(applicationId).get(name));
    tx.remove('features', declarationKey(applicationId, name));
    tx.remove('notes', declarationKey(applicationId, name));
    tx.note('feature.deleted', application.teamId, declarationTarget('feature', application, name));
  });
}

/** Declares a feature in a transaction. @throws {Refusal} `invalid_name`, `plan_limit` */
export function declare(
  directory: Directory,
  tx: AccountTransaction,
  application: Application,
  name: string,
  settings: FeatureSettings,
): FeatureDeclaration {
  checkDeclaredName('a feature', name);
  const declared = tx.getFeatures(application.id).size;
  checkTierLimit(getTier(tx, application), 'features', declared + 1);
  const now = directory.clock.now();
  const feature: FeatureDeclaration = {
    applicationId: application.id,
    name,
    number: tx.takeNumber('feature'),
    ...settings,
    createdAt: now,
    updatedAt: now,
  };
  tx.put('features', declarationKey(application.id, name), feature);
  const target = declarationTarget('feature', application, name);
  tx.note('feature.declared', application.teamId, target, changesBetween(defaultSettings, settings));
  return feature;
}

const maxNotes = 100;

export const tooManyNotes = `${tooMany('notes of a feature', maxNotes)}: delete an old note`;

interface NewNote {
  readonly at: number;
  /** Name of an environment of the application; `null` for all environments. */
  readonly environment: string | null;
  readonly text: string;
}

export function readNotes(
  { notes }: Pick<AccountTables, 'notes'>,
  applicationId: string,
  feature: string,
): readonly FeatureNote[] {
  notes.resetReadTxn(); // The new snapshot includes every write acknowledged before this request.
  return notes.get(declarationKey(applicationId, feature)) ?? [];
}

/** @throws {Refusal} `not_found` (application), `conflict` if the feature has too many notes */
export function addNote(
  directory: Directory,
  applicationId: string,
  feature: string,
  { at, environment, text }: NewNote,
): Promise<FeatureNote> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const key = declarationKey(applicationId, feature);
    const notes = tx.get('notes', key) ?? [];
    if (notes.length >= maxNotes) throw new Refusal('conflict', tooManyNotes);
    const id = String(tx.takeNumber('note'));
    const note: FeatureNote = { id, at, environment, text, by: tx.actor.name };
    const byTime = [...notes, note].sort((one, other) => one.at - other.at);
    tx.put('notes', key, byTime);
    tx.note('feature.noted', application.teamId, declarationTarget('feature', application, feature));
    return note;
  });
}

/** @throws {Refusal} `not_found` */
export function deleteNote(directory: Directory, applicationId: string, feature: string, id: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const key = declarationKey(applicationId, feature);
    const notes = tx.get('notes', key) ?? [];
    mustExist(
      'note',
      notes.find((note) => note.id === id),
    );
    const left = notes.filter((note) => note.id !== id);
    if (left.length > 0) tx.put('notes', key, left);
    else tx.remove('notes', key);
    tx.note('feature.note-deleted', application.teamId, declarationTarget('feature', application, feature));
  });
}

export function removeNotes(tx: AccountTransaction, applicationId: string): void {
  const range = { start: `${applicationId} `, end: `${applicationId}!` };
  for (const key of [...tx.keys('notes', range)]) tx.remove('notes', key);
}
