import { openTable, type Table } from './lmdb.ts';
import type { Reading } from './snapshot.ts';
import { fromSnapshot, readAt } from './snapshot.ts';
import type { UsageTable, UsageTables } from './usage.ts';

export interface ScanTask {
  readonly table: UsageTable;
  /** The last key that was read; `undefined` starts at the beginning. */
  readonly after: Uint8Array | undefined;
}

/** Records to read from one snapshot. */
const stepLimit = 500;

/**
 * Reads some records of a table to check their pages: LMDB checks each page when reading it from the file.
 * @returns the last key that was read; `undefined` at the end of the table
 */
export function scan(store: UsageTables, { table, after }: ScanTask): Reading<Uint8Array | undefined> {
  return fromSnapshot(store.lmdb, function* (at) {
    const start = after === undefined ? {} : { start: Buffer.from(after), exclusiveStart: true };
    let left = stepLimit;
    for (const { key } of tableOf(store, table).getRange({ ...start, ...readAt(at), limit: stepLimit })) {
      left -= 1;
      if (left === 0) return Uint8Array.from(key);
      yield;
    }
    return undefined;
  });
}

/** On several machines, the store of a node has more tables than reports read: see replica-store.ts. */
function tableOf(store: UsageTables, name: UsageTable): Table {
  const tables: Partial<Record<UsageTable, Table>> = store;
  tables[name] ??= openTable(store.lmdb, name);
  return tables[name];
}
