/**
 * Where accounts, sessions, codes and invalidations are kept, as a port: what can be read and changed, and what a caller
 * may rely on. `embedded.ts` keeps them in the LMDB of the data directory, `postgres.ts` in a PostgreSQL that several nodes
 * share, with a copy in the LMDB of each.
 *
 * A change is a plan: a synchronous function that reads the tables and drafts writes. Plans run one after another, each on
 * what the plans before it have drafted, so nothing comes between what a plan reads and what it writes. Everyone else
 * reads what is on disk. A caller is answered when the writes of its plan, and everything that the plan has read, are on
 * disk; when a commit fails, its plans and all plans after them are refused, and nothing of them is kept.
 */
import type { Histogram } from '../../runtime/histogram.ts';
import type { AccountRecords, TableName } from '../../storage/lmdb/accounts.ts';
import type { Throttles } from './throttles.ts';

/** The tables that packets and lists read all the time: they are held in memory as a whole. */
export const memoryTables = [
  ...(['teams', 'users', 'apiKeys', 'applications', 'applicationKeys', 'clients'] as const),
  ...(['features', 'metrics', 'deletions', 'deviceCodes', 'numbers'] as const),
  ...(['webhooks', 'webhookTurns'] as const),
] as const satisfies readonly TableName[];

export type MemoryTable = (typeof memoryTables)[number];

/** A record to put or, when `value` is `undefined`, to remove. */
export interface Write<Name extends TableName = TableName> {
  readonly table: Name;
  readonly key: string;
  readonly value: AccountRecords[Name] | undefined;
}

/** Keys from `start` on and before `end`. */
export interface KeyRange {
  readonly start: string;
  readonly end: string;
}

export interface Reader {
  get<Name extends TableName>(table: Name, key: string): AccountRecords[Name] | undefined;
  has(table: TableName, key: string): boolean;
  /** The keys of a range, in no particular order. */
  keys(table: TableName, range: KeyRange): Iterable<string>;
  /** All records of a table by their keys. It is live: it shows what the reader shows, whenever it is asked. */
  records<Name extends MemoryTable>(table: Name): ReadonlyMap<string, AccountRecords[Name]>;
}

/** What a plan works on. It reads its own writes, those of earlier plans, and the disk. */
export interface Draft extends Reader {
  put<Name extends TableName>(table: Name, key: string, value: AccountRecords[Name]): void;
  remove(table: TableName, key: string): void;
  /** What is not on disk yet: the latest value of each key, `undefined` for a removed one. */
  pending<Name extends TableName>(table: Name): ReadonlyMap<string, AccountRecords[Name] | undefined>;
}

/** Reads and drafts, and does nothing else: an engine may run it later, or again. It must not await anything. */
export type Plan<T> = (draft: Draft) => T;

/** What people are shown about an engine. */
export interface EngineStatus {
  /** Where the records are: in this data directory only, or in a PostgreSQL that all nodes share. */
  readonly kind: 'embedded' | 'postgres';
  /** Why accounts can neither be confirmed nor changed now; `undefined` while they can be. */
  readonly trouble: string | undefined;
  readonly version: number;
}

/** As a reader it shows what is on disk. */
export interface Engine extends Reader {
  /**
   * Resolves when what the engine shows is as new as the moment of this call, on whatever node it was changed. `undefined` when
   * that is so at all times.
   * @throws {ApiError} `engine_unavailable`, in bounded time
   */
  current(): Promise<void> | undefined;
  /** Counts the changes of all nodes; 0 at all times when there are no others. What the engine shows is of this version. */
  readonly version: number;
  status(): EngineStatus;
  /** What commits of changes took, seconds. */
  readonly commitTimes: Histogram;
  /** Failed sign-ins. */
  readonly throttles: Throttles;
  /**
   * Makes a change; resolves with the plan's result when it is on disk. Callers are answered in the order of their plans.
   * @throws {ApiError} `store_unavailable`, `engine_unavailable`, `backpressure`; nothing of the plan was kept
   * @throws whatever the plan throws; nothing of it was kept
   */
  change<T>(plan: Plan<T>): Promise<T>;
  /** @param listener is called with what was written, when it can be read and before its callers are answered */
  onCommit(listener: (writes: readonly Write[]) => void): void;
  /** Commits what waits; later changes are refused. */
  close(): Promise<void>;
}
