import type { AccountRecords, AccountStore, TableName } from '../store/accounts.ts';
import { type KeyRange, type MemoryTable, memoryTables, type Reader, type Write } from './engine.ts';

type Records = { readonly [Name in MemoryTable]: Map<string, AccountRecords[Name]> };

/** What is on disk: some tables are read from memory, the others from the store. */
export class Committed implements Reader {
  readonly #store: AccountStore;
  readonly #records: Records;

  constructor(store: AccountStore) {
    this.#store = store;
    this.#records = Object.fromEntries(memoryTables.map((table) => [table, load(store, table)])) as Records;
  }

  get<Name extends TableName>(table: Name, key: string): AccountRecords[Name] | undefined {
    const records = this.#inMemory(table);
    return (records === undefined ? this.#store[table].get(key) : records.get(key)) as
      | AccountRecords[Name]
      | undefined;
  }

  has(table: TableName, key: string): boolean {
    return this.#inMemory(table)?.has(key) ?? this.#store[table].doesExist(key);
  }

  keys(table: TableName, range: KeyRange): Iterable<string> {
    return this.#store[table].getKeys(range);
  }

  records<Name extends MemoryTable>(table: Name): ReadonlyMap<string, AccountRecords[Name]> {
    return this.#records[table];
  }

  /** Shows what was just put on disk. */
  protected update(writes: readonly Write[]): void {
    for (const { table, key, value } of writes) {
      const records = this.#inMemory(table);
      if (value === undefined) records?.delete(key);
      else records?.set(key, value);
    }
    this.refresh();
  }

  /** Shows what another thread or process has put into the store: reading goes on with what is there now. */
  protected refresh(): void {
    this.#store.lmdb.resetReadTxn();
  }

  #inMemory(table: TableName): Map<string, unknown> | undefined {
    return (this.#records as Partial<Record<TableName, Map<string, unknown>>>)[table];
  }
}

function load<Name extends MemoryTable>(store: AccountStore, table: Name): Map<string, AccountRecords[Name]> {
  const entries = store[table]
    .getRange()
    .map(({ key, value }) => [key, value as AccountRecords[Name]] as const);
  return new Map(entries);
}
