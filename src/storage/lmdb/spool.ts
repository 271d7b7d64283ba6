import type { Database } from 'lmdb';
import { openLaidOut, spoolLayout } from './layout.ts';
import { openRecords, openTable, type Table } from './lmdb.ts';
import { openUsageTables, type UsageStore } from './usage.ts';

/**
 * The tables of the spool. Those of usage hold the open delta: what was counted and is in no delta yet. Only the names of
 * series and the messages of the last minutes stay there when it is sealed.
 */
export interface SpoolStore extends UsageStore {
  /**
   * Sealed deltas. Key: the number of the stream, and the delta's in it (u32 each, big-endian). Value: through, since and version
   * (f64 each, little-endian), then the body.
   */
  readonly deltas: Table;
  /**
   * What messages with an identity bring to the open delta. Key: the time (u48, Unix ms, big-endian) and the identity (16), as in
   * `messages`. Value: see `encodeMessage`.
   */
  readonly apart: Table;
  /**
   * Instance ids that were used since the delta before. Key: application (u32, big-endian), digest (16) and hash (32). Value: the
   * expiry (f64, little-endian, Unix ms).
   */
  readonly used: Table;
  /** What came with unknown instance ids. Key: a number (u48, big-endian), in their order. Value: see `encodeUnresolved`. */
  readonly unresolved: Table;
  /** The streams of this directory, each under its id. */
  readonly streams: Database<StreamRecord, string>;
  /**
   * `directory`: the random id of this directory. `engine`: the id of the engine that it belongs to. `secret`: the HMAC key of
   * digests, which is the engine's, as base64.
   */
  readonly meta: Database<string, string>;
}

/** How far a stream of this directory is. A directory has had as many as its process was started. */
export interface StreamRecord {
  /** Ascending in the order in which they began. It is in the keys of the deltas. */
  readonly number: number;
  readonly stream: string;
  /** The last delta that was sealed, and the last one that the engine has; 0 for none. */
  readonly sealed: number;
  readonly acknowledged: number;
  /** When deltas were acknowledged: `[seq, Unix ms]`, ascending, the last of each minute. */
  readonly acknowledgements: readonly (readonly [seq: number, at: number])[];
  /** The first delta that is kept. */
  readonly first: number;
  /** What is in none of its deltas was counted by packets that were admitted after this. */
  readonly mark: Mark;
  /** The closed stream whose rest this one ships; nothing is counted in it. */
  readonly restOf?: string;
  /** `done`: the engine has all of it, and knows that no more will come. `aside`, of earlier versions: kept, never shipped. */
  readonly state: 'open' | 'aside' | 'done';
}

/** A moment, and what the node knew then. */
export interface Mark {
  /** Unix ms. */
  readonly at: number;
  /** The position of the log that the node had applied. */
  readonly applied: number;
  /** The version of the accounts that the node had. */
  readonly version: number;
}

/**
 * Opens the spool of a data directory. Each thread opens it for itself, the main thread first.
 * @throws {Error} as `openLaidOut` does
 */
export function openSpoolStore(data: string): SpoolStore {
  const lmdb = openLaidOut(data, spoolLayout);
  return {
    ...openUsageTables(lmdb),
    deltas: openTable(lmdb, 'deltas'),
    apart: openTable(lmdb, 'apart'),
    used: openTable(lmdb, 'used'),
    unresolved: openTable(lmdb, 'unresolved'),
    streams: openRecords<StreamRecord>(lmdb, 'streams'),
    meta: openRecords<string>(lmdb, 'meta'),
  };
}
