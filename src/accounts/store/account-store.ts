import type { Histogram } from '../../runtime/histogram.ts';
import type { AccountRecords, TableName } from '../../storage/lmdb/accounts.ts';
import type { LoginFailures } from '../../storage/lmdb/auth-records.ts';

/**
 * The interface for storing accounts, sessions, codes and invalidated tokens. `embedded.ts` keeps them in the LMDB of
 * the data directory. `postgres.ts` keeps them in a PostgreSQL database that several nodes share, with a replica in
 * each node's LMDB.
 *
 * A change is a synchronous function that reads the tables and writes to a transaction. Changes run one after another.
 * Each change sees the pending writes of earlier changes, so a change is isolated from all others. All other readers
 * see committed records. A call of `change` resolves when the writes of the change, and all records that it has read,
 * are on disk. If a commit fails, its changes and all later pending changes are rejected, and their writes are
 * discarded.
 */

/** The tables that packets and lists read constantly, held completely in memory. */
export const memoryTables = [
  ...(['teams', 'users', 'apiKeys', 'applications', 'applicationKeys', 'clients'] as const),
  ...(['features', 'metrics', 'codeScans', 'deletions', 'deviceCodes', 'numbers'] as const),
  ...(['signInPolicy', 'webhooks', 'webhookTurns', 'identityProviders'] as const),
] as const satisfies readonly TableName[];

export type MemoryTable = (typeof memoryTables)[number];

/** A record to put or, if `value` is `undefined`, to remove. */
export interface Write<Name extends TableName = TableName> {
  readonly table: Name;
  readonly key: string;
  readonly value: AccountRecords[Name] | undefined;
}

/** Returns the records of a table as the writes that create them. */
export function asWrites(store: Pick<Reader, 'records'>, table: MemoryTable): Write[] {
  return Array.from(store.records(table), ([key, value]) => ({ table, key, value }) as Write);
}

/** Keys from `start` up to, but not including, `end`. */
export interface KeyRange {
  readonly start: string;
  readonly end: string;
}

export interface Reader {
  get<Name extends TableName>(table: Name, key: string): AccountRecords[Name] | undefined;
  has(table: TableName, key: string): boolean;
  /** The keys of a range, in no particular order. */
  keys(table: TableName, range: KeyRange): Iterable<string>;
  /** All records of a table by key, as a live view. */
  records<Name extends MemoryTable>(table: Name): ReadonlyMap<string, AccountRecords[Name]>;
}

/** The tables as a change sees them: its own writes, pending writes of earlier changes, and the disk. */
export interface Transaction extends Reader {
  put<Name extends TableName>(table: Name, key: string, value: AccountRecords[Name]): void;
  remove(table: TableName, key: string): void;
  /** Writes that are not on disk yet: the latest value of each key, `undefined` for a removed record. */
  pending<Name extends TableName>(table: Name): ReadonlyMap<string, AccountRecords[Name] | undefined>;
}

/**
 * A synchronous function that reads and writes a transaction. It has no other side effects, because a store can call it
 * later or more than once.
 */
export type Change<T> = (tx: Transaction) => T;

export interface AccountStoreStatus {
  /** `embedded`: the records are in this data directory. `postgres`: in a PostgreSQL database that all nodes share. */
  readonly kind: 'embedded' | 'postgres';
  /** Reason why accounts can now be neither verified nor changed; `undefined` if accounts are usable. */
  readonly trouble: string | undefined;
  /** The reason in `trouble`, worded for unauthenticated readers. */
  readonly publicReason?: string | undefined;
  readonly version: number;
}

/** The store of accounts. As a reader, it shows committed records. */
export interface AccountStore extends Reader {
  /**
   * Resolves when the store shows all changes that any node made before this call. Returns `undefined` if the
   * store always shows them.
   * @throws {Refusal} `postgres_unavailable`, in bounded time
   */
  current(): Promise<void> | undefined;
  /** Number of changes, from all nodes, that this store shows. Always 0 without PostgreSQL. */
  readonly version: number;
  status(): AccountStoreStatus;
  readonly commitTimes: Histogram;
  readonly throttles: Throttles;
  /**
   * Runs a change; resolves with its result when its writes are on disk. Calls resolve in the order of their changes.
   * @throws {Refusal} `store_unavailable`, `postgres_unavailable`, `backpressure`; nothing was written
   * @throws any error of the change; nothing was written
   */
  change<T>(change: Change<T>): Promise<T>;
  /** @param listener receives committed writes, before their calls of `change` resolve */
  onCommit(listener: (writes: readonly Write[]) => void): void;
  /** Commits pending changes, and rejects later changes. */
  close(): Promise<void>;
}

export interface ThrottleTransaction {
  get(key: string): LoginFailures | undefined;
  put(key: string, failures: LoginFailures): void;
  remove(key: string): void;
}

/**
 * Counts failed sign-ins, separately from the changes of accounts. Many failed sign-ins of an attacker must not delay
 * changes, such as the end of a session.
 */
export interface Throttles {
  /**
   * Resolves with the result of `decide` when its writes are on disk. Nothing else runs between its reads and writes.
   * @param keys all keys that `decide` reads or writes, without duplicates
   * @throws {Refusal} as `AccountStore.change` does
   */
  change<T>(keys: readonly string[], decide: (tx: ThrottleTransaction) => T): Promise<T>;
  /** Lists counts in key order, after a key. */
  list(after: string, limit: number): Promise<readonly ListedThrottle[]>;
}

export interface ListedThrottle {
  readonly key: string;
  readonly failures: LoginFailures;
}
