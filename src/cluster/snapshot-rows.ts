import { currentLayout, usageLayout } from '../store/layout.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import type { Applied } from './entry.ts';

/**
 * How the rows of a replica cross to another node: in parts, each compressed on its own.
 *
 * A part begins with its number (u32, from 0) and whether it is the last (u8). In the first, the length of the head (u32) and the
 * head follow, as JSON. Then come rows: the table by its place in the head (u8), the lengths of key and value (u32 each), key,
 * value. All numbers are little-endian. The rows are those of the layout of the usage store that the head names.
 */
const snapshotFormat = 1;

export interface SnapshotHead extends Applied {
  readonly format: number;
  /** See store/layout.ts. */
  readonly layout: number;
  readonly tables: readonly string[];
}

/** The parts are not a whole snapshot of a format that this program knows. */
export class SnapshotUnreadable extends Error {
  override readonly name = 'SnapshotUnreadable';

  constructor(why: string) {
    super(`Cannot load the snapshot: ${why}`);
  }
}

export type ReplicaTable = Exclude<keyof ReplicaStore, 'lmdb'>;

/** What a replica consists of. */
export const replicaTables: readonly ReplicaTable[] = [
  ...(['replica', 'series', 'streamSeries', 'counts', 'carried', 'measurements', 'seen'] as const),
  ...(['sketches', 'messages', 'messageTimes', 'identities', 'identityDays', 'exposures'] as const),
  ...(['exposureDays', 'forgotten', 'erased', 'senders', 'ledger'] as const),
];

/** The rows that belong to the node, not to what the log says: its own facts, and the secret of its digests. */
export const ownRows: { readonly [Name in ReplicaTable]?: { readonly start: Buffer; readonly end: Buffer } } =
  {
    replica: { start: Buffer.from('own:'), end: Buffer.from('own;') },
    identities: { start: Buffer.from('secret'), end: Buffer.from('secret\0') },
  };

export function isOwnRow(table: ReplicaTable, key: Buffer): boolean {
  const own = ownRows[table];
  return own !== undefined && key.compare(own.start) >= 0 && key.compare(own.end) < 0;
}

/** The head of a snapshot of this program. */
export function headOf({ position, id }: Applied): SnapshotHead {
  return { format: snapshotFormat, layout: currentLayout(usageLayout), position, id, tables: replicaTables };
}

const partHead = 5;
const rowHead = 9;

/** A part, of rows that `encodeRow` made. @param head of the first part */
export function encodePart(
  number: number,
  rows: readonly Buffer[],
  isLast: boolean,
  head?: SnapshotHead,
): Buffer {
  const text = Buffer.from(head === undefined ? '' : JSON.stringify(head));
  const start = Buffer.allocUnsafe(partHead + (head === undefined ? 0 : 4));
  start.writeUInt32LE(number, 0);
  start.writeUInt8(Number(isLast), 4);
  if (head !== undefined) start.writeUInt32LE(text.length, partHead);
  return Buffer.concat([start, text, ...rows]);
}

/** @param table its place in the head */
export function encodeRow(table: number, key: Buffer, value: Buffer): Buffer {
  const row = Buffer.allocUnsafe(rowHead + key.length + value.length);
  row.writeUInt8(table, 0);
  row.writeUInt32LE(key.length, 1);
  row.writeUInt32LE(value.length, 5);
  key.copy(row, rowHead);
  value.copy(row, rowHead + key.length);
  return row;
}

/** A part as it is read. */
export interface Part {
  readonly isLast: boolean;
  /** Of the first part. */
  readonly head: SnapshotHead | undefined;
  readonly rows: Generator<PartRow>;
}

export interface PartRow {
  readonly table: number;
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Reads what `encodePart` wrote. @throws {SnapshotUnreadable} also while the rows are read */
export function readPart(bytes: Buffer, number: number): Part {
  if (bytes.length < partHead || bytes.readUInt32LE(0) !== number)
    throw new SnapshotUnreadable(`its part ${number} is missing or damaged`);
  let at = partHead;
  let head: SnapshotHead | undefined;
  if (number === 0) {
    const end = at + 4 + (bytes.length < at + 4 ? 0 : bytes.readUInt32LE(at));
    head = readHead(bytes.subarray(at + 4, end).toString());
    at = end;
  }
  return { isLast: bytes[4] === 1, head, rows: readRows(bytes, at, number) };
}

function readHead(text: string): SnapshotHead {
  let head: SnapshotHead;
  try {
    head = JSON.parse(text) as SnapshotHead;
  } catch {
    throw new SnapshotUnreadable('its head is damaged');
  }
  const wanted = headOf({ position: 0, id: '0' });
  if (head.format === wanted.format && head.layout === wanted.layout) return head;
  const [found, known] = [`${head.format}.${head.layout}`, `${wanted.format}.${wanted.layout}`];
  throw new SnapshotUnreadable(
    `another version of flagmeter wrote it, in format ${found}, and this version reads ${known}; update this node, or wait for a snapshot of a node of this version`,
  );
}

function* readRows(bytes: Buffer, from: number, number: number): Generator<PartRow> {
  for (let at = from; at < bytes.length; ) {
    const keyAt = at + rowHead;
    const valueAt = keyAt <= bytes.length ? keyAt + bytes.readUInt32LE(at + 1) : Number.POSITIVE_INFINITY;
    const end = valueAt <= bytes.length ? valueAt + bytes.readUInt32LE(at + 5) : valueAt;
    if (end > bytes.length) throw new SnapshotUnreadable(`its part ${number} is damaged`);
    yield { table: bytes[at]!, key: bytes.subarray(keyAt, valueAt), value: bytes.subarray(valueAt, end) };
    at = end;
  }
}

/** A table that replicas of earlier versions had: its rows are left out. */
const formerTable = 'refused';

/** The tables that a head names, by their places; `undefined` in the place of a former one. @throws {SnapshotUnreadable} */
export function tablesOf({ tables }: SnapshotHead): (ReplicaTable | undefined)[] {
  return tables.map((each) => {
    const name = replicaTables.find((known) => known === each);
    if (name === undefined && each !== formerTable)
      throw new SnapshotUnreadable(`it has an unknown table (${each})`);
    return name;
  });
}
