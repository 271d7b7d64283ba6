import type { FeaturePatch } from '../../../contract/shapes/feature.ts';
import type { OverviewFeature } from '../../../contract/shapes/overview.ts';
import type { GivenOwner } from '../../../contract/shapes/owner.ts';

export interface BulkAction {
  readonly label: string;
  /** Participle that follows the number of flags, such as `archived`. */
  readonly done: string;
  /** `undefined` if the flag needs no change. */
  readonly patch: (row: OverviewFeature) => FeaturePatch | undefined;
  /** Returns the patch that restores a row; absent if the action cannot be undone. */
  readonly undo?: (row: OverviewFeature) => FeaturePatch;
}

export const bulkActions: readonly BulkAction[] = [
  { label: 'Archive', done: 'archived', ...archive(true) },
  { label: 'Restore from archive', done: 'restored', ...archive(false) },
  { label: 'Declare', done: 'declared', patch: ({ declared }) => (declared ? undefined : {}) },
];

function archive(archived: boolean): Pick<BulkAction, 'patch' | 'undo'> {
  return {
    patch: (row) => (row.archived === archived ? undefined : { archived }),
    undo: (row) => ({ archived: row.archived }),
  };
}

export function keepAction(keeping: Pick<FeaturePatch, 'permanent' | 'snoozedUntil'>): BulkAction {
  return {
    label: 'Keep until',
    done: keeping.permanent ? 'kept for ever' : keeping.snoozedUntil === null ? 'no longer kept' : 'kept until a date',
    patch: () => keeping,
    undo: ({ permanent, snoozedUntil }) => ({ permanent, snoozedUntil }),
  };
}

export function tagAction(tag: string): BulkAction {
  return {
    label: `Tag with ${tag}`,
    done: 'tagged',
    patch: ({ tags }) => (tags.includes(tag) ? undefined : { tags: [...tags, tag] }),
    undo: ({ tags }) => ({ tags }),
  };
}

/** Replaces the owners of each flag with one owner. Undoing restores the declared owners. */
export function ownerAction(owner: GivenOwner, name: string): BulkAction {
  return {
    label: `Set owner to ${name}`,
    done: `owned by ${name}`,
    patch: () => ({ owners: [owner] }),
    undo: ({ owners, ownersFrom }) => ({ owners: ownersFrom === 'declaration' ? owners : [] }),
  };
}

export interface BulkStep {
  readonly name: string;
  readonly patch: FeaturePatch;
}

/** Number of all steps, and the steps that succeeded or failed so far. */
export interface BulkProgress {
  readonly total: number;
  readonly done: readonly string[];
  readonly failed: readonly { readonly name: string; readonly error: unknown }[];
}

/**
 * Runs the steps one after the other. A failure does not stop later steps.
 * @param report receives the progress after each step, and decides whether to continue
 */
export async function runSteps(
  steps: readonly BulkStep[],
  send: (step: BulkStep) => Promise<unknown>,
  report: (progress: BulkProgress) => boolean,
): Promise<BulkProgress> {
  let progress: BulkProgress = { total: steps.length, done: [], failed: [] };
  for (const step of steps) {
    try {
      await send(step);
      progress = { ...progress, done: [...progress.done, step.name] };
    } catch (error) {
      progress = { ...progress, failed: [...progress.failed, { name: step.name, error }] };
    }
    if (!report(progress)) break;
  }
  return progress;
}
