import { Refusal } from '../contract/errors.ts';
import { plainFeatureDefaults } from '../contract/shapes/feature.ts';
import type { FeatureDeclaration, RolloutStep, Weight } from '../storage/lmdb/records.ts';
import { checkSentName } from './checks.ts';

export type FeatureSettings = Omit<
  FeatureDeclaration,
  'applicationId' | 'name' | 'number' | 'experiments' | 'createdAt' | 'updatedAt'
>;

/** The settings of an undeclared feature. */
export const defaultSettings: FeatureSettings = {
  ...plainFeatureDefaults,
  archivedAt: null,
  snoozedUntil: null,
  split: null,
  rollout: null,
  owners: [],
  tags: [],
};

/** Completes a stored declaration with settings that earlier versions did not write. */
export function completeFeature(stored: FeatureDeclaration): FeatureDeclaration {
  return { ...defaultSettings, ...stored };
}

/** @throws {Refusal} `invalid_name`, `invalid_time` */
export function patchSettings<Settings extends FeatureSettings>(
  settings: Settings,
  patch: Partial<FeatureSettings>,
  now: number,
): Settings {
  for (const [variant] of patch.split ?? []) checkSentName('a variant', variant);
  checkRollout(patch.rollout ?? []);
  const patched = { ...settings, ...patch, ...(patch.split !== undefined && { splitAt: now }) };
  const archivedAt = patched.archived ? now : null;
  return patched.archived === settings.archived ? patched : { ...patched, archivedAt };
}

const rolloutOrder = '`rollout` must have its steps in ascending order of time';

function checkRollout(steps: readonly RolloutStep[]): void {
  for (const [index, { at, split }] of steps.entries()) {
    for (const [variant] of split) checkSentName('a variant', variant);
    if (index > 0 && at <= steps[index - 1]!.at) throw new Refusal('invalid_time', rolloutOrder);
  }
}

/** The intended split of a feature, and the time from which it applies. */
export interface IntendedSplit {
  readonly split: readonly Weight[];
  /** Unix ms; `null` if unknown. */
  readonly since: number | null;
  readonly planned: boolean;
}

/**
 * Returns the intended split at a time: the split of the latest rollout step, or the feature's own split before the
 * first step.
 */
export function intendedAt(
  { split, splitAt, rollout }: Pick<FeatureDeclaration, 'split' | 'splitAt' | 'rollout'>,
  at: number,
): IntendedSplit | null {
  const step = rollout?.findLast((each) => each.at <= at);
  if (step !== undefined) return { split: step.split, since: step.at, planned: true };
  return split && { split, since: splitAt ?? null, planned: false };
}

/**
 * Returns the intended split of a whole period; `null` if the feature has no intended split, or if a step of the
 * rollout plan changes the split within the period.
 */
export function intendedThroughout(
  declaration: Parameters<typeof intendedAt>[0],
  from: number,
  to: number,
): IntendedSplit['split'] | null {
  const intended = intendedAt(declaration, to);
  if (intended === null || (intended.planned && intended.since! > from)) return null;
  return intended.split;
}
