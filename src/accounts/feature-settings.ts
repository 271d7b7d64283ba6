import type { FeatureDeclaration } from '../storage/lmdb/records.ts';
import { checkSentName } from './checks.ts';

/** What a team decides of a feature. */
export type FeatureSettings = Pick<
  FeatureDeclaration,
  'description' | 'archived' | 'archivedAt' | 'permanent' | 'snoozedUntil' | 'split'
>;

/** What can be changed; when a feature was archived follows from that. */
export type FeaturePatch = Partial<Omit<FeatureSettings, 'archivedAt'>>;

/** What is said of a feature of which the team has said nothing. */
export const defaultSettings: FeatureSettings = {
  description: null,
  archived: false,
  archivedAt: null,
  permanent: false,
  snoozedUntil: null,
  split: null,
};

/** A stored declaration with the settings that it lacks because an earlier version wrote it. */
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
