import type { Database } from 'lmdb';
import { type LmdbEnvironment, openRecords } from './lmdb.ts';

/** The source of a copy of accounts, written in the same transaction as the records. */
export interface CopyState {
  /** The id of the PostgreSQL database. */
  readonly engine: string;
  readonly version: number;
  /** The id of the change that led to this version: a decimal number. */
  readonly change: string;
  /** The copied tables. A later version of this program may have more. */
  readonly tables: string;
  /** Whether PostgreSQL has lost changes that were here, and the consequences are not handled yet. */
  readonly lossOpen: boolean;
  /** The repair mark of the last copy. A higher one means that another node has done the repair. */
  readonly lossMark?: number;
  /** Whether the accounts are being adopted by PostgreSQL and may not be there yet: see replication/adoption. */
  readonly adopting?: true;
}

const name = 'engine';
const key = 'copy';

/** The state of a copy; `undefined` if the accounts are not a copy. */
export function readCopyState(lmdb: LmdbEnvironment): CopyState | undefined {
  const options = { name, encoding: 'json', create: false } as const;
  const table: Database<CopyState, string> | undefined = lmdb.openDB<CopyState, string>(options);
  return table?.get(key);
}

/** Returns a function that writes the state of a copy. Call it in a batch of writes. */
export function copyStateWriter(lmdb: LmdbEnvironment): (state: CopyState) => void {
  const table = openRecords<CopyState>(lmdb, name);
  return (state) => void table.put(key, state);
}
