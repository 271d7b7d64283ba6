import type { FeatureDeclaration } from '../storage/lmdb/records.ts';
import { checkSentName } from './checks.ts';

/** A team's settings of a feature. */
export type FeatureSettings = Pick<
  FeatureDeclaration,
  'description' | 'archived' | 'archivedAt' | 'permanent' | 'snoozedUntil' | 'split'
>;

/** The settings that can be changed. The time of archiving follows from them. */
export type FeaturePatch = Partial<Omit<FeatureSettings, 'archivedAt'>>;

/** The settings of an undeclared feature. */
export const defaultSettings: FeatureSettings = {
  description: null,
  archived: false,
  archivedAt: null,
  permanent: false,
  snoozedUntil: null,
  split: null,
};

/** A stored declaration, completed with settings that earlier versions did not write. */
export function completeFeature(stored: FeatureDeclaration): FeatureDeclaration {
  return { ...defaultSettings, ...stored };
}

/** The settings after a change at `now`. @throws {ApiError} `invalid_name` */
export function patchSettings<Settings extends FeatureSettings>(
  settings: Settings,
  patch: FeaturePatch,
  now: number,
): Settings {
  for (const [variant] of patch.split ?? []) checkSentName('a variant', variant);
  const patched = { ...settings, ...patch };
  const archivedAt = patched.archived ? now : null;
  return patched.archived === settings.archived ? patched : { ...patched, archivedAt };
}
