import type { Database } from 'lmdb';
import { openLaidOut, spoolLayout, usageLayout } from './layout.ts';
import { type LmdbEnvironment, openRecords, openTable, openTables, type Table } from './lmdb.ts';
import { fromSnapshot, type Reading, readAt } from './snapshot.ts';

/** The tables of the usage store. The file with the same name, or the file in the comment, describes the format. */
export const usageTables = [
  'counts', // The cells of variants: see blocks.ts.
  'carried',
  'measurements', // The cells of metrics: see blocks.ts.
  'series',
  'seen',
  'sketches',
  'messages',
  'cumulative', // See cumulative.ts.
  'identities', // See instances.ts.
  'identityDays',
  'exposures',
  'exposureDays',
  'senders',
  'ledger',
  'totals',
] as const;

export type UsageTable = (typeof usageTables)[number];

/** The usage store. The commit workers write it; the main thread only reads. */
export interface UsageTables extends Readonly<Record<UsageTable, Table>> {
  readonly lmdb: LmdbEnvironment;
}

/**
 * Opens the usage store of a data directory. Each thread opens it separately, the main thread first.
 * @throws {Error} as `openLaidOut`
 */
export function openUsageTables(data: string): UsageTables {
  return usageTablesIn(openLaidOut(data, usageLayout));
}

/** Opens the tables of usage in an LMDB environment, and creates missing tables. */
export function usageTablesIn(lmdb: LmdbEnvironment): UsageTables {
  return { lmdb, ...openTables(lmdb, usageTables) };
}

/** The tables of a replica in addition to the usage tables. Files in src/replication describe the formats. */
const replicaTables = [
  'replica', // State of the replica, as JSON by name: see replica-state.ts.
  'streamSeries',
  'messageTimes', // See `CountedMessages`.
  'forgotten', // See `ForgottenPeople`.
  'erased',
] as const;

/** The usage store of a node that applies a log shared by several machines: see replication/replica.ts. */
export interface ReplicaStore extends UsageTables, Readonly<Record<(typeof replicaTables)[number], Table>> {}

/** Opens the usage store of a data directory with the tables of a replica. @throws {Error} as `openLaidOut` does */
export function openReplicaStore(data: string): ReplicaStore {
  const usage = openUsageTables(data);
  return { ...usage, ...openTables(usage.lmdb, replicaTables) };
}

/**
 * The tables of the spool, which keeps counts until PostgreSQL has them. Its usage tables hold the open delta, to which
 * counts are added. Sealing a delta empties these tables, except for the names of series and the messages of the last
 * minutes. In a spool, `cumulative` has other records: the keys of `messages`, and values of `cumulativeRecord`.
 */
export interface SpoolStore extends UsageTables {
  /**
   * Sealed deltas. Key: the number of the stream, and the number of the delta in the stream (u32 each, big-endian).
   * Value: through, since and version (f64 each, little-endian), then the body.
   */
  readonly deltas: Table;
  /**
   * Changes that messages with an identity have made to the open delta. Key: the time (u48, Unix ms, big-endian) and
   * the identity (16), as in `messages`. Value: see `messageRecord`.
   */
  readonly apart: Table;
  /**
   * Instance ids used since the last delta. Key: application (u32, big-endian), digest (16) and hash (32). Value: the
   * expiry (f64, little-endian, Unix ms).
   */
  readonly used: Table;
  /**
   * Running totals in order of arrival, from which replicas compute the increase that they have not counted. Key: a
   * number (u48, big-endian), ascending. Value: see `totalRecord`.
   */
  readonly totals: Table;
  /** Uses of unknown instance ids. Key: a number (u48, big-endian), ascending. Value: see `unresolvedRecord`. */
  readonly unresolved: Table;
  /** The streams of this directory, each under its id. */
  readonly streams: Database<StreamRecord, string>;
  /**
   * `directory`: the random id of this directory. `engine`: the id of the PostgreSQL database that it belongs to.
   * `secret`: that database's HMAC key of digests, as base64.
   */
  readonly meta: Database<string, string>;
}

/** State of a stream of this directory. Each process creates a stream when it starts. */
export interface StreamRecord {
  /** Ascending in order of creation. The number is part of the keys of the deltas. */
  readonly number: number;
  readonly stream: string;
  /** The last sealed delta. `acknowledged` is the last delta in PostgreSQL. Both are 0 before the first delta. */
  readonly sealed: number;
  readonly acknowledged: number;
  /** Times when deltas were acknowledged, ascending: for each minute, the last delta and its time (Unix ms). */
  readonly acknowledgements: readonly (readonly [seq: number, at: number])[];
  /** Size of the sealed deltas that are not in PostgreSQL. Absent from records of earlier versions. */
  readonly waitingBytes?: number;
  /** The first delta that is still stored. */
  readonly first: number;
  /** All packets that were admitted until this time are in a delta of the stream. */
  readonly mark: StreamWatermark;
  /** An earlier stream, closed for new counts, whose remaining data this stream ships. */
  readonly restOf?: string;
  /** `done`: PostgreSQL has the whole stream and expects no more deltas. `aside` (earlier versions): never shipped. */
  readonly state: 'open' | 'aside' | 'done';
}

/** A time, and the node's state at that time. */
export interface StreamWatermark {
  /** Unix ms. */
  readonly at: number;
  /** The position up to which the node had applied the log. */
  readonly applied: number;
  /** The version of the accounts that the node had. */
  readonly version: number;
}

/** Opens the spool. Each thread opens it separately, the main thread first. @throws {Error} as `openLaidOut` does */
export function openSpoolStore(data: string): SpoolStore {
  const lmdb = openLaidOut(data, spoolLayout);
  return {
    ...usageTablesIn(lmdb),
    ...openTables(lmdb, ['deltas', 'apart', 'used', 'unresolved']),
    streams: openRecords<StreamRecord>(lmdb, 'streams'),
    meta: openRecords<string>(lmdb, 'meta'),
  };
}

export interface ScanTask {
  readonly table: UsageTable;
  /** The last key that was read; `undefined` to start at the beginning. */
  readonly after: Uint8Array | undefined;
}

/** Number of records to read from one snapshot. */
const stepLimit = 500;

/**
 * Reads some records of a table to check their pages: LMDB checks each page when reading it from the file.
 * @returns the last key that was read; `undefined` at the end of the table
 */
export function scan(store: UsageTables, { table, after }: ScanTask): Reading<Uint8Array | undefined> {
  return fromSnapshot(store.lmdb, function* (at) {
    const start = after === undefined ? {} : { start: Buffer.from(after), exclusiveStart: true };
    let left = stepLimit;
    for (const { key } of openOwnTable(store, table).getRange({ ...start, ...readAt(at), limit: stepLimit })) {
      left -= 1;
      if (left === 0) return Uint8Array.from(key);
      yield;
    }
    return undefined;
  });
}

/** Returns a table, opening it if necessary. A node has more tables than reports read: see `ReplicaStore`. */
function openOwnTable(store: UsageTables, name: UsageTable): Table {
  const tables: Partial<Record<UsageTable, Table>> = store;
  tables[name] ??= openTable(store.lmdb, name);
  return tables[name];
}
