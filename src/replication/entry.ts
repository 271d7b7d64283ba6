import type { EntryBodies } from './log-bodies.ts';
import type { LogEntry, Whole } from './postgres/follower.ts';

/** A later version may know more of them. */
export type EntryKind = 'delta' | keyof EntryBodies;

/** An entry of the log of usage, as PostgreSQL holds it. */
export interface StoredEntry extends LogEntry<Buffer> {
  readonly kind: EntryKind;
  /** Of a delta; empty for other kinds. */
  readonly stream: string;
  readonly seq: number;
}

/**
 * An entry that all nodes apply, in the order of positions. The last entry that a replica has applied is all that says what it
 * holds.
 */
export type Entry = Whole<StoredEntry>;
