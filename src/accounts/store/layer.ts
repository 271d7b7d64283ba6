import type { AccountRecords, TableName } from '../../storage/lmdb/accounts.ts';
import type { KeyRange, MemoryTable, Reader, Transaction, Write } from './account-store.ts';

/** Maximum key length of LMDB. `put` rejects a longer key, which would make the whole commit fail. */
const maxKeyBytes = 1978;

type TableWrites = Map<string, unknown>;

/** Writes on top of a lower layer or the disk. Reads return the latest value. */
export class Layer implements Transaction {
  readonly #written = new Map<TableName, TableWrites>();
  #below: Reader | Layer;

  constructor(below: Reader | Layer) {
    this.#below = below;
  }

  get isEmpty(): boolean {
    return this.#written.size === 0;
  }

  /** The writes of only this layer, with each key once. */
  get writes(): Write[] {
    return Array.from(this.#written, ([table, written]) =>
      Array.from(written, ([key, value]) => ({ table, key, value }) as Write),
    ).flat();
  }

  /** Replaces the reader below this layer by another reader with the same content. */
  putOn(below: Reader): void {
    this.#below = below;
  }

  /** Adds the writes of another layer, which has already checked the keys. */
  write(writes: readonly Write[]): void {
    for (const { table, key, value } of writes) this.#ensureTable(table).set(key, value);
  }

  get<Name extends TableName>(table: Name, key: string): AccountRecords[Name] | undefined {
    const written = this.#written.get(table);
    if (written?.has(key)) return written.get(key) as AccountRecords[Name] | undefined;
    return this.#below.get(table, key);
  }

  has(table: TableName, key: string): boolean {
    const written = this.#written.get(table);
    return written?.has(key) ? written.get(key) !== undefined : this.#below.has(table, key);
  }

  *keys(table: TableName, range: KeyRange): Generator<string> {
    const written = this.#written.get(table);
    for (const key of this.#below.keys(table, range)) if (!written?.has(key)) yield key;
    for (const [key, value] of written ?? [])
      if (value !== undefined && key >= range.start && key < range.end) yield key;
  }

  records<Name extends MemoryTable>(table: Name): ReadonlyMap<string, AccountRecords[Name]> {
    return new LayeredRecords<AccountRecords[Name]>(this.#onDisk().records(table), {
      get: (key) => this.get(table, key),
      pending: () => this.pending(table),
    });
  }

  pending<Name extends TableName>(table: Name): Map<string, AccountRecords[Name] | undefined> {
    const pending =
      this.#below instanceof Layer ? this.#below.pending(table) : new Map<string, AccountRecords[Name] | undefined>();
    for (const [key, value] of this.#written.get(table) ?? [])
      pending.set(key, value as AccountRecords[Name] | undefined);
    return pending;
  }

  put<Name extends TableName>(table: Name, key: string, value: AccountRecords[Name]): void {
    this.#write(table, key, value);
  }

  remove(table: TableName, key: string): void {
    this.#write(table, key, undefined);
  }

  #write(table: TableName, key: string, value: unknown): void {
    if (Buffer.byteLength(key) > maxKeyBytes) throw new RangeError(`Key size is larger than ${maxKeyBytes} bytes`);
    this.#ensureTable(table).set(key, value);
  }

  #ensureTable(table: TableName): TableWrites {
    const written = this.#written.get(table) ?? new Map<string, unknown>();
    this.#written.set(table, written);
    return written;
  }

  #onDisk(): Reader {
    return this.#below instanceof Layer ? this.#below.#onDisk() : this.#below;
  }
}

interface Above<T> {
  get(key: string): T | undefined;
  pending(): ReadonlyMap<string, T | undefined>;
}

export class LayeredRecords<T> implements ReadonlyMap<string, T> {
  readonly #onDisk: ReadonlyMap<string, T>;
  readonly #above: Above<T>;

  constructor(onDisk: ReadonlyMap<string, T>, above: Above<T>) {
    this.#onDisk = onDisk;
    this.#above = above;
  }

  get size(): number {
    let size = this.#onDisk.size;
    for (const [key, value] of this.#above.pending())
      size += Number(value !== undefined) - Number(this.#onDisk.has(key));
    return size;
  }

  get(key: string): T | undefined {
    return this.#above.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): Generator<[string, T], undefined> {
    const pending = this.#above.pending();
    for (const entry of this.#onDisk) if (!pending.has(entry[0])) yield entry;
    for (const [key, value] of pending) if (value !== undefined) yield [key, value];
  }

  *keys(): Generator<string, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<T, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, T], undefined> {
    return this.entries();
  }

  forEach(action: (value: T, key: string, map: ReadonlyMap<string, T>) => void): void {
    for (const [key, value] of this.entries()) action(value, key, this);
  }
}
