import type { Histogram } from '../../runtime/histogram.ts';
import type { AccountRecords, TableName } from '../../storage/lmdb/accounts.ts';
import type { LoginFailures } from '../../storage/lmdb/auth-records.ts';

/**
 * The port for storing accounts, sessions, codes and invalidations. `embedded.ts` keeps them in the LMDB of the data directory.
 * `postgres.ts` keeps them in a PostgreSQL that several nodes share, with a replica in the LMDB of each.
 *
 * A change is a plan: a synchronous function that reads the tables and drafts writes. Plans run one after another, each on what
 * earlier plans have drafted, so nothing comes between a plan's reads and writes. Everyone else reads what is on disk. A caller
 * is answered when its plan's writes, and everything that the plan has read, are on disk. If a commit fails, its plans and all
 * later ones are rejected, and none of their writes are kept.
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

/** The records of a table as the writes that make them. */
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
  /** All records of a table by key. It is a live view of what the reader shows. */
  records<Name extends MemoryTable>(table: Name): ReadonlyMap<string, AccountRecords[Name]>;
}

/** The tables as a plan sees them: its own writes, those of earlier plans, and the disk. */
export interface Transaction extends Reader {
  put<Name extends TableName>(table: Name, key: string, value: AccountRecords[Name]): void;
  remove(table: TableName, key: string): void;
  /** Writes that are not on disk yet: the latest value of each key, `undefined` for a removed one. */
  pending<Name extends TableName>(table: Name): ReadonlyMap<string, AccountRecords[Name] | undefined>;
}

/** Reads and drafts, without other side effects: a store may run it later, or again. It must not await anything. */
export type Change<T> = (tx: Transaction) => T;

export interface AccountStoreStatus {
  /** Where the records are: only in this data directory, or in a PostgreSQL that all nodes share. */
  readonly kind: 'embedded' | 'postgres';
  /** Why accounts can be neither confirmed nor changed now; `undefined` while they can be. */
  readonly trouble: string | undefined;
  /** The same for unauthenticated readers. */
  readonly publicReason?: string | undefined;
  readonly version: number;
}

/** As a reader, it shows what is on disk. */
export interface AccountStore extends Reader {
  /**
   * Resolves when the store shows all changes that any node made before this call. `undefined` if it always does.
   * @throws {ApiError} `engine_unavailable`, in bounded time
   */
  current(): Promise<void> | undefined;
  /** The number of changes that this store shows, of all nodes. Always 0 on a single machine. */
  readonly version: number;
  status(): AccountStoreStatus;
  readonly commitTimes: Histogram;
  readonly throttles: Throttles;
  /**
   * Makes a change; resolves with the plan's result when it is on disk. Callers are answered in the order of their plans.
   * @throws {ApiError} `store_unavailable`, `engine_unavailable`, `backpressure`; nothing was written
   * @throws whatever the plan throws; nothing was written
   */
  change<T>(change: Change<T>): Promise<T>;
  /** @param listener receives the writes once they can be read, before the callers are answered */
  onCommit(listener: (writes: readonly Write[]) => void): void;
  /** Commits pending changes. Later changes are rejected. */
  close(): Promise<void>;
}

export interface ThrottleTransaction {
  get(key: string): LoginFailures | undefined;
  put(key: string, failures: LoginFailures): void;
  remove(key: string): void;
}

/**
 * Counts failed sign-ins, separately from the plans of the accounts. An attacker who guesses passwords must not delay plans
 * that end sessions.
 */
export interface Throttles {
  /**
   * Resolves with the result of `decide` when its writes are on disk. Nothing comes between its reads and writes.
   * @param keys all keys that it reads or writes, without duplicates
   * @throws {ApiError} as `AccountStore.change` does
   */
  change<T>(keys: readonly string[], decide: (tx: ThrottleTransaction) => T): Promise<T>;
  /** Some counts in key order, after a key. */
  list(after: string, limit: number): Promise<readonly ListedThrottle[]>;
}

export interface ListedThrottle {
  readonly key: string;
  readonly failures: LoginFailures;
}
