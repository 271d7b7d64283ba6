import type { Write } from './engine.ts';

/** Where a history of changes ends. */
export interface Place {
  readonly version: number;
  /** Random, a decimal number: two histories of an engine may have the same version, and never the same id. */
  readonly id: string;
}

/** A change of the accounts as all nodes share it. */
export interface AccountChange extends Place {
  readonly writes: readonly Write[];
}

/** A change as it stands in the engine. `writes` is missing where a caller knows them. */
export interface StoredChange extends Place {
  readonly writes: string | null;
}

/** What the engine said of its history: where it ends, and the changes from a version on. */
export interface History {
  readonly head: Place;
  /** In order. */
  readonly changes: readonly StoredChange[];
}

/**
 * The changes that follow a place; `undefined` when the place is not in the history, or changes that follow it are missing:
 * then the engine went back, or has forgotten them.
 */
export function changesAfter(place: Place, { head, changes }: History): readonly StoredChange[] | undefined {
  if (head.version === place.version) return head.id === place.id ? [] : undefined;
  const known = changes.find(({ version }) => version === place.version);
  if (place.version > 0 && known?.id !== place.id) return undefined;
  const news = changes.filter(({ version }) => version > place.version && version <= head.version);
  const isWhole = news.every(({ version }, index) => version === place.version + 1 + index);
  return isWhole && news.at(-1)?.version === head.version && news.at(-1)?.id === head.id ? news : undefined;
}

/** Whether a change is part of the history. */
export function has({ changes }: History, { version, id }: Place): boolean {
  return changes.some((change) => change.version === version && change.id === id);
}
