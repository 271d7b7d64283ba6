/*
 * src/replication: usage of several machines. Each node counts into its spool (this file): the open delta, which sections write as
 * they write a usage store (spool-aggregator.ts), and deltas that were sealed from it (seal.ts). Sealed deltas go to the engine,
 * and come back to every node in one order.
 */
import { pairKey, prefixKey } from '../storage/lmdb/key-prefix.ts';
import { type Table, transact } from '../storage/lmdb/lmdb.ts';
import { openSpoolStore, type SpoolStore, type StreamRecord } from '../storage/lmdb/spool.ts';

/** A delta that was sealed, with what the engine wants to know without decoding it. */
export interface SealedDelta {
  readonly seq: number;
  readonly through: number;
  readonly since: number;
  readonly version: number;
  /** See `encodeDelta`. */
  readonly body: Buffer;
}

/** How much a spool holds. */
export interface SpoolLevel {
  /** Bytes of the file that are in use. */
  readonly bytes: number;
  /** Since when something waits, if anything does: what was answered before that was acknowledged (Unix ms). */
  readonly oldest: number | undefined;
}

/**
 * What a node has counted and the engine does not have, and what the engine has had for less than an hour. Any thread may read
 * it; the spool worker alone writes it, but for the ids.
 */
export class Spool {
  readonly store: SpoolStore;
  /** The id of the data directory, which is random. */
  readonly directory: string;

  /**
   * Opens the spool of a data directory, and makes it when it is missing. The main thread opens it first.
   * @param newId makes a random id
   */
  constructor(data: string, newId: () => string) {
    this.store = openSpoolStore(data);
    this.directory = this.store.meta.get('directory') ?? this.#put('directory', newId());
  }

  /** The id of the engine that this directory belongs to. */
  get engine(): string | undefined {
    this.#refresh();
    return this.store.meta.get('engine');
  }

  /** Makes this directory one of an engine's. It stays that: another engine does not know its streams. */
  bindTo(engine: string): void {
    this.#put('engine', engine);
  }

  /** The streams that have deltas here, and the one that is being counted in: in the order in which they began. */
  streams(): StreamRecord[] {
    this.#refresh();
    return streamsOf(this.store);
  }

  stream(stream: string): StreamRecord | undefined {
    this.#refresh();
    return this.store.streams.get(stream);
  }

  /** The deltas of a stream from a number on, in their order. */
  deltas(stream: string, from: number, limit: number): SealedDelta[] {
    const known = this.stream(stream);
    return known === undefined ? [] : deltasOf(this.store, known.number, from, limit);
  }

  level(): SpoolLevel {
    const open = this.streams().filter(({ state }) => state === 'open');
    const waiting = open.filter(({ sealed, acknowledged }) => sealed > acknowledged);
    const oldest = waiting.map(({ stream, acknowledged }) => this.deltas(stream, acknowledged + 1, 1)[0]);
    // While the engine is away nothing is sealed: then all that waits may be in the open delta.
    const { counts, measurements, apart, ledger, used, unresolved } = this.store;
    const tables = [counts, measurements, apart, ledger, used, unresolved];
    const isCounted = tables.some((table) => [...table.getKeys({ limit: 1 })].length > 0);
    const since = isCounted ? open.at(-1)?.mark.at : undefined;
    return { bytes: this.bytes, oldest: oldest.find((delta) => delta !== undefined)?.through ?? since };
  }

  /** See `bytesOfSpool`. It costs some microseconds. */
  get bytes(): number {
    this.#refresh();
    return bytesOfSpool(this.store);
  }

  close(): Promise<void> {
    return this.store.lmdb.close();
  }

  /** Otherwise a thread sees what was there at the beginning of its turn of the event loop. */
  #refresh(): void {
    this.store.streams.resetReadTxn();
  }

  #put(name: string, id: string): string {
    transact(this.store.lmdb, () => void this.store.meta.putSync(name, id));
    return id;
  }
}

/** The streams of a spool, in the order in which they began. */
export function streamsOf({ streams }: Pick<SpoolStore, 'streams'>): StreamRecord[] {
  const found = Array.from(streams.getRange(), ({ value }) => value);
  return found.sort((one, other) => one.number - other.number);
}

/** The number of the next stream to begin. */
export function nextNumber(store: SpoolStore): number {
  return (streamsOf(store).at(-1)?.number ?? 0) + 1;
}

const headBytes = 24;

/** The deltas of the stream with a number, from one on, in their order. */
export function deltasOf(
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

/** Puts a delta. Call it in the transaction in which what it holds leaves the open delta. */
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
 * Bytes of a spool's file that wait for the engine, or are kept for it. Names of series and messages of the last minutes are not
 * among them: they stay when all was shipped, so a spool that is full by them would stay full.
 */
export function bytesOfSpool({ lmdb: _, streams, meta, series, messages, ...tables }: SpoolStore): number {
  return Object.values(tables as Record<string, Table>).reduce((sum, table) => sum + bytesOf(table), 0);
}

/** The pages that LMDB counts for a table. */
interface TableStats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

function bytesOf(table: Table): number {
  const stats = table.getStats() as TableStats;
  return stats.pageSize * (stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages);
}
