import type { EntryBodies } from './log-bodies.ts';

/** A later version may know more of them. */
export type EntryKind = 'delta' | keyof EntryBodies;

/**
 * An entry of the log that all nodes apply, in the order of its positions: 1, 2, 3 and so on. The position and the id of the
 * last entry that a replica has applied are all that says what it holds.
 */
export interface Entry {
  readonly position: number;
  /** Random, as decimal text: it tells an entry from one that had the same position before the engine went back. */
  readonly id: string;
  readonly kind: EntryKind;
  /** Of a delta; empty for other kinds. */
  readonly stream: string;
  readonly seq: number;
  readonly body: Buffer;
}

/** How far a replica is. */
export interface Applied {
  readonly position: number;
  readonly id: string;
}

/** Nothing is applied: the log begins at position 1. */
export const nothingApplied: Applied = { position: 0, id: '0' };
