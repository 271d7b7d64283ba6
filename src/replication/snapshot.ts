import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipWithCallback } from 'node:zlib';
import { currentLayout, usageLayout } from '../storage/lmdb/layout.ts';
import { openSnapshot, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { type LogPosition, logStart } from './postgres/log-position.ts';
import { ReplicaState } from './replica-state.ts';

const gzip = promisify(gzipWithCallback);

/**
 * The format in which the rows of a replica are transferred: parts, each compressed separately.
 *
 * A part begins with its number (u32, from 0) and whether it is the last (u8). The first continues with the length of the head (u32)
 * and the head as JSON. Then come rows: the table by its index in the head (u8), the lengths of key and value (u32 each), key, value.
 * All numbers are little-endian. The head names the layout of the usage store that the rows have.
 */
const snapshotFormat = 1;

export interface SnapshotHead extends LogPosition {
  readonly format: number;
  /** See storage/lmdb/layout.ts. */
  readonly layout: number;
  readonly tables: readonly string[];
}

export type ReplicaTable = Exclude<keyof ReplicaStore, 'lmdb'>;

export const replicaTables: readonly ReplicaTable[] = [
  ...(['replica', 'series', 'streamSeries', 'counts', 'carried', 'measurements', 'seen'] as const),
  ...(['sketches', 'messages', 'messageTimes', 'identities', 'identityDays', 'exposures'] as const),
  ...(['exposureDays', 'forgotten', 'erased', 'senders', 'ledger', 'cumulative', 'totals'] as const),
];

/** The rows of the node itself, which are not transferred: its own facts, and the secret of its digests. */
export const ownRows: { readonly [Name in ReplicaTable]?: { readonly start: Buffer; readonly end: Buffer } } =
  {
    replica: { start: Buffer.from('own:'), end: Buffer.from('own;') },
    identities: { start: Buffer.from('secret'), end: Buffer.from('secret\0') },
  };

/** Whether a row is one of `ownRows`. */
export function isOwnRow(table: ReplicaTable, key: Buffer): boolean {
  const own = ownRows[table];
  return own !== undefined && key.compare(own.start) >= 0 && key.compare(own.end) < 0;
}

/** The tables of a snapshot. Releases without the last ones load no snapshot that names them. */
function tablesOf({ cumulative, totals }: ReplicaStore, transaction: Snapshot): readonly ReplicaTable[] {
  const isUsed = [cumulative, totals].some(
    (table) => [...table.getKeys({ transaction, limit: 1 })].length > 0,
  );
  return isUsed ? replicaTables : replicaTables.slice(0, -2);
}

/** The head of a snapshot in the current format. */
export function headOf({ position, id }: LogPosition, tables = replicaTables): SnapshotHead {
  return { format: snapshotFormat, layout: currentLayout(usageLayout), position, id, tables };
}

export const partHead = 5;
export const rowHead = 9;

/** Bytes of rows in a part. Compressed they are about 1 MiB. */
const usualPartBytes = 3 * 2 ** 20;
/** Bytes of rows collected before a pause, which takes a millisecond or two. */
const turnBytes = 256 * 1024;

/** The content of a replica at one position of the log. While it is open, commits make the file grow. */
export class ReplicaSnapshot {
  /** The last entry applied in it. */
  readonly applied: LogPosition;
  readonly #store: ReplicaStore;
  readonly #partBytes: number;
  #snapshot: Snapshot | undefined;

  constructor(store: ReplicaStore, partBytes = usualPartBytes) {
    this.#partBytes = partBytes;
    this.#store = store;
    this.#snapshot = openSnapshot(store.lmdb);
    this.applied = new ReplicaState(store, this.#snapshot).get('own:applied') ?? logStart;
  }

  /** Yields the parts in order, once, with pauses for the event loop. Closes the snapshot at the end, even if the reader stops early. */
  async *parts(): AsyncGenerator<Buffer, void, undefined> {
    try {
      let compressed: Promise<Buffer> | undefined;
      for await (const part of this.#rawParts()) {
        // While one part is compressed in another thread, the next is collected.
        if (compressed !== undefined) yield await compressed;
        compressed = gzip(part, { level: 1 });
      }
      yield await compressed!;
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#snapshot?.done();
    this.#snapshot = undefined;
  }

  async *#rawParts(): AsyncGenerator<Buffer, void, undefined> {
    const transaction = this.#snapshot;
    if (transaction === undefined) throw new Error('The parts of a snapshot are read once');
    let number = 0;
    let bytes = 0;
    let turn = 0;
    let rows: Buffer[] = [];
    const tables = tablesOf(this.#store, transaction);
    const finish = (isLast: boolean) =>
      encodePart(number, rows, isLast, number === 0 ? headOf(this.applied, tables) : undefined);
    for (const [index, name] of tables.entries()) {
      for (const { key, value } of this.#store[name].getRange({ transaction })) {
        if (isOwnRow(name, key)) continue;
        const row = encodeRow(index, key, value);
        rows.push(row);
        bytes += row.length;
        turn += row.length;
        if (turn < Math.min(turnBytes, this.#partBytes)) continue;
        turn = 0;
        await setImmediate();
        if (bytes < this.#partBytes) continue;
        yield finish(false);
        number += 1;
        rows = [];
        bytes = 0;
      }
    }
    yield finish(true);
  }
}

/** @param head for the first part */
function encodePart(number: number, rows: readonly Buffer[], isLast: boolean, head?: SnapshotHead): Buffer {
  const text = Buffer.from(head === undefined ? '' : JSON.stringify(head));
  const start = Buffer.allocUnsafe(partHead + (head === undefined ? 0 : 4));
  start.writeUInt32LE(number, 0);
  start.writeUInt8(Number(isLast), 4);
  if (head !== undefined) start.writeUInt32LE(text.length, partHead);
  return Buffer.concat([start, text, ...rows]);
}

/** @param table its index in the head */
function encodeRow(table: number, key: Buffer, value: Buffer): Buffer {
  const row = Buffer.allocUnsafe(rowHead + key.length + value.length);
  row.writeUInt8(table, 0);
  row.writeUInt32LE(key.length, 1);
  row.writeUInt32LE(value.length, 5);
  key.copy(row, rowHead);
  value.copy(row, rowHead + key.length);
  return row;
}
