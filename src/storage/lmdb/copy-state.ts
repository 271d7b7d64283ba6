import type { Database } from 'lmdb';
import { type LmdbEnvironment, openRecords } from './lmdb.ts';

/** Of what the accounts of a data directory are a copy: written in the transaction that brings the records themselves. */
export interface CopyState {
  /** The id of the engine. */
  readonly engine: string;
  readonly version: number;
  /** The id of the change that led to this version: a decimal number. */
  readonly change: string;
  /** The tables that are copied: a later version of this program may know more of them. */
  readonly tables: string;
  /** Changes were here that the engine has lost; what has to follow from that is still to be done. */
  readonly lossOpen: boolean;
  /** The mark of the last repair in the records that came then: a higher one means that another node has done it. */
  readonly lossMark?: number;
  /** The accounts are on their way into the engine, and may not be there yet: see cluster/adoption. */
  readonly adopting?: true;
}

const name = 'engine';
const key = 'copy';

/** The state of a copy; `undefined` when the accounts are no copy. */
export function readCopyState(lmdb: LmdbEnvironment): CopyState | undefined {
  const options = { name, encoding: 'json', create: false } as const;
  const table: Database<CopyState, string> | undefined = lmdb.openDB<CopyState, string>(options);
  return table?.get(key);
}

/** Gives a function that writes the state of a copy: call it in a batch of writes. */
export function copyStateWriter(lmdb: LmdbEnvironment): (state: CopyState) => void {
  const table = openRecords<CopyState>(lmdb, name);
  return (state) => void table.put(key, state);
}
