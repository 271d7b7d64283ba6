import type { Database } from 'lmdb';
import type { LmdbEnvironment } from './lmdb.ts';
import { commit, type Health } from './transact.ts';

/** A table, and which of its records are to go. */
export interface Sweep<T> {
  readonly table: Database<T, string>;
  /** Only keys before this one are looked at; without it all are. */
  readonly end?: string;
  /** The records are in the order in which they expire: the sweep ends at the first that has not. */
  readonly inOrder?: true;
  isOver(key: string, record: T): boolean;
  /** Called inside a transaction. */
  remove(key: string, record: T): void;
}

/** Looks at some records that come after a key, and gives the key to go on after, or `undefined` at the end. */
export type SweepStep = (after: string | undefined) => string | undefined;

/** Records that one step looks at: it takes about a millisecond, or two with the commit. */
const stepLimit = 256;

/**
 * Makes the steps that remove what is over, each in a transaction of its own.
 * @throws {ApiError} `store_unavailable`
 */
export function sweepSteps<T>(
  lmdb: LmdbEnvironment,
  health: Health,
  { table, end, inOrder, isOver, remove }: Sweep<T>,
): SweepStep {
  return (after) => {
    const start = after === undefined ? {} : { start: after, exclusiveStart: true };
    const found = [...table.getRange({ ...start, ...(end === undefined ? {} : { end }), limit: stepLimit })];
    const over = found.filter(({ key, value }) => isOver(key, value));
    if (over.length > 0)
      commit(lmdb, health, () => {
        for (const { key, value } of over) remove(key, value);
      });
    const isLast = found.length < stepLimit || (inOrder && over.length < found.length);
    return isLast ? undefined : found.at(-1)?.key;
  };
}
