import { ApiError } from '../contract/errors.ts';
import type { GivenOwner } from '../contract/shapes/owner.ts';
import type { Application, FeatureDeclaration } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { changesBetween } from './changed-fields.ts';
import { mustExist } from './checks.ts';
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
