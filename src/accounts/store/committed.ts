import { Refusal, storeUnavailable } from '../../contract/errors.ts';
import type { AccountRecords, AccountTables, TableName } from '../../storage/lmdb/accounts.ts';
import type { StoreHealth } from '../../storage/lmdb/store-health.ts';
import { type KeyRange, type MemoryTable, memoryTables, type Reader, type Write } from './account-store.ts';

type Records = { readonly [Name in MemoryTable]: Map<string, AccountRecords[Name]> };

/** The committed records. Some tables are read from memory, other tables from the store. */
export class CommittedRecords implements Reader {
  protected readonly store: AccountTables;
  readonly #health: Pick<StoreHealth, 'ready' | 'failed'>;
  readonly #records: Records;
  readonly #listeners: ((writes: readonly Write[]) => void)[] = [];

  /** @param health records failed commits; while it is not ready, nothing is written */
  constructor(store: AccountTables, health: Pick<StoreHealth, 'ready' | 'failed'>) {
    this.store = store;
    this.#health = health;
    this.#records = Object.fromEntries(memoryTables.map((table) => [table, load(store, table)])) as Records;
  }

  get canKeep(): boolean {
    return this.#health.ready;
  }

  get<Name extends TableName>(table: Name, key: string): AccountRecords[Name] | undefined {
    const records = this.#inMemory(table);
    return (records === undefined ? this.store[table].get(key) : records.get(key)) as AccountRecords[Name] | undefined;
  }

  has(table: TableName, key: string): boolean {
    return this.#inMemory(table)?.has(key) ?? this.store[table].doesExist(key);
  }

  keys(table: TableName, range: KeyRange): Iterable<string> {
    return this.store[table].getKeys(range);
  }

  records<Name extends MemoryTable>(table: Name): ReadonlyMap<string, AccountRecords[Name]> {
    return this.#records[table];
  }

  onCommit(listener: (writes: readonly Write[]) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Commits writes in one transaction, and shows them to readers and listeners. If it rejects, nothing was written.
   * @param also callback within the transaction
   * @param shown called when readers can see the writes, before the listeners are called
   * @throws {Refusal} `store_unavailable`
   */
  protected async commit(writes: readonly Write[], also = () => {}, shown = () => {}): Promise<void> {
    if (!this.canKeep) throw storeAway();
    try {
      await write(this.store, writes, also);
    } catch (error) {
      this.refresh();
      this.#health.failed(error);
      throw storeAway();
    }
    for (const { table, key, value } of writes) {
      const records = this.#inMemory(table);
      if (value === undefined) records?.delete(key);
      else records?.set(key, value);
    }
    this.refresh();
    shown();
    for (const listener of this.#listeners) listener(writes);
  }

  /** Makes writes of another thread or process visible. */
  protected refresh(): void {
    this.store.lmdb.resetReadTxn();
  }

  #inMemory(table: TableName): Map<string, unknown> | undefined {
    return (this.#records as Partial<Record<TableName, Map<string, unknown>>>)[table];
  }
}

function load<Name extends MemoryTable>(store: AccountTables, table: Name): Map<string, AccountRecords[Name]> {
  const entries = store[table].getRange().map(({ key, value }) => [key, value as AccountRecords[Name]] as const);
  return new Map(entries);
}

export function applyWrites(store: AccountTables, writes: readonly Write[]): void {
  for (const { table, key, value } of writes) {
    if (value === undefined) void store[table].remove(key);
    else void (store[table] as { put(key: string, value: unknown): unknown }).put(key, value);
  }
}

/**
 * Writes through LMDB's own thread. A worker thread would have to open the store and its lock file a second time.
 * Closing the file would release all locks of the process (POSIX). `flagmeter signing-keys rotate` would then find the
 * store unused, and reset its locks under the running service.
 * @throws {FileGoneError} if it wrote to a file that was removed or replaced
 * @throws {Error} from LMDB, with the LMDB error number as `code`
 */
async function write(store: AccountTables, writes: readonly Write[], also: () => void): Promise<void> {
  try {
    // Awaits the whole batch, because only its promise resolves when the batch is on disk.
    await store.lmdb.batch(() => {
      applyWrites(store, writes);
      also();
    });
  } catch (error) {
    // `commitError` is a promise that rejects with the actual error. Its rejection must be handled.
    const { commitError } = error as { commitError?: Promise<never> };
    await commitError;
    throw error;
  }
  store.lmdb.fileIdentity.check();
}

/** Returns the refusal of a change that the disk of this node rejects. */
export function storeAway(): Refusal {
  return new Refusal('store_unavailable', storeUnavailable.changeNotKept, 5);
}
