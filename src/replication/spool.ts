/*
 * src/replication counts usage on several machines. Each node counts into its spool (this file). The spool has an open
 * delta, which is written like a usage store (spool-aggregator.ts). Its counts are moved to sealed deltas (seal.ts),
 * which are shipped to PostgreSQL. Every node applies the log in PostgreSQL in the same order.
 */

import { pairKey, prefixKey } from '../storage/lmdb/key-prefix.ts';
import { type Table, transact } from '../storage/lmdb/lmdb.ts';
import { openSpoolStore, type SpoolStore, type StreamRecord } from '../storage/lmdb/usage.ts';
import type { DeltaHead } from './delta.ts';

/** A sealed delta, with the fields of `fm_stream`. */
export interface SealedDelta extends Omit<DeltaHead, 'stream'> {
  /** See `encodeDelta`. */
  readonly body: Buffer;
}

export interface SpoolLevel {
  readonly bytes: number;
  /** Time of the oldest unshipped packet, Unix ms; `undefined` if all packets are shipped. */
  readonly oldest: number | undefined;
}

/**
 * The local store of a node's counts, which stay there until an hour after PostgreSQL has them. Any thread can read the
 * spool. The main thread writes the ids, and the spool worker everything else.
 */
export class Spool {
  readonly store: SpoolStore;
  /** The random id of the data directory. */
  readonly directory: string;

  /** Opens the spool of a data directory. The main thread must open it first, which creates it. */
  constructor(data: string, newId: () => string) {
    this.store = openSpoolStore(data);
    this.directory = this.store.meta.get('directory') ?? this.#put('directory', newId());
  }

  /** The id of the database that this directory belongs to. */
  get postgresId(): string | undefined {
    this.#refresh();
    return this.store.meta.get('engine');
  }

  /** Assigns this directory to a database permanently, because no other database knows its streams. */
  bindTo(postgresId: string): void {
    this.#put('engine', postgresId);
  }

  /** Lists the current stream and the streams with deltas in this spool, in order of creation. */
  streams(): StreamRecord[] {
    this.#refresh();
    return listStreams(this.store);
  }

  stream(stream: string): StreamRecord | undefined {
    this.#refresh();
    return this.store.streams.get(stream);
  }

  /** Returns the deltas of a stream from a number on, in order. */
  deltas(stream: string, from: number, limit: number): SealedDelta[] {
    const known = this.stream(stream);
    return known === undefined ? [] : readDeltas(this.store, known.number, from, limit);
  }

  level(): SpoolLevel {
    const open = this.streams().filter(({ state }) => state === 'open');
    const waiting = open.filter(({ sealed, acknowledged }) => sealed > acknowledged);
    const oldest = waiting.map(({ stream, acknowledged }) => this.deltas(stream, acknowledged + 1, 1)[0]);
    // The open delta also counts, because it grows while PostgreSQL is unavailable and sealing stops.
    const { counts, measurements, apart, cumulative, totals, ledger, used, unresolved } = this.store;
    const tables = [counts, measurements, apart, cumulative, totals, ledger, used, unresolved];
    const isCounted = tables.some((table) => [...table.getKeys({ limit: 1 })].length > 0);
    const since = isCounted ? open.at(-1)?.mark.at : undefined;
    return { bytes: this.bytes, oldest: oldest.find((delta) => delta !== undefined)?.through ?? since };
  }

  /** See `bytesOfSpool`. The calculation takes some microseconds. */
  get bytes(): number {
    this.#refresh();
    return bytesOfSpool(this.store);
  }

  close(): Promise<void> {
    return this.store.lmdb.close();
  }

  /** Ends the read transaction, so that the next read sees the latest state. */
  #refresh(): void {
    this.store.streams.resetReadTxn();
  }

  #put(name: string, id: string): string {
    transact(this.store.lmdb, () => void this.store.meta.putSync(name, id));
    return id;
  }
}

/** Lists the streams of a spool in order of creation. */
export function listStreams({ streams }: Pick<SpoolStore, 'streams'>): StreamRecord[] {
  const found = Array.from(streams.getRange(), ({ value }) => value);
  return found.sort((one, other) => one.number - other.number);
}

export function nextNumber(store: SpoolStore): number {
  return (listStreams(store).at(-1)?.number ?? 0) + 1;
}

const headBytes = 24;

/** Reads the deltas of a stream from a number on, in order. */
export function readDeltas(
  { deltas }: Pick<SpoolStore, 'deltas'>,
  number: number,
  from: number,
  limit: number,
): SealedDelta[] {
  const range = { start: pairKey(number, from), end: prefixKey(number + 1), limit };
  return Array.from(deltas.getRange(range), ({ key, value }) => ({
    seq: key.readUInt32BE(4),
    through: value.readDoubleLE(0),
    since: value.readDoubleLE(8),
    version: value.readDoubleLE(16),
    body: Buffer.from(value.subarray(headBytes)),
  }));
}

/** Puts a delta, in the transaction that removes its content from the open delta. */
export function putDelta(store: SpoolStore, number: number, delta: SealedDelta): void {
  const { seq, through, since, version, body } = delta;
  const value = Buffer.allocUnsafe(headBytes + body.length);
  value.writeDoubleLE(through, 0);
  value.writeDoubleLE(since, 8);
  value.writeDoubleLE(version, 16);
  body.copy(value, headBytes);
  store.deltas.putSync(pairKey(number, seq), value);
}

/**
 * Returns the number of bytes of a spool that are not in PostgreSQL: the open delta and the waiting deltas. Names of
 * series, messages of the last minutes and deltas of the last hour do not count. They stay after everything is shipped,
 * so a spool could otherwise stay full forever.
 */
function bytesOfSpool(store: SpoolStore): number {
  const { lmdb: _, streams, meta, series, messages, deltas, ...tables } = store;
  const open = Object.values(tables as Record<string, Table>).reduce((sum, table) => sum + computeTableBytes(table), 0);
  return listStreams(store).reduce((sum, { waitingBytes = 0 }) => sum + waitingBytes, open);
}

export function bytesOfDeltas(store: SpoolStore, number: number, from: number, to: number): number {
  return readDeltas(store, number, from, to - from + 1).reduce((sum, { body }) => sum + body.length, 0);
}

interface TableStats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

function computeTableBytes(table: Table): number {
  const stats = table.getStats() as TableStats;
  return stats.pageSize * (stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages);
}
