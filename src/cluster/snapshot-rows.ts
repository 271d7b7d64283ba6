import { currentLayout, usageLayout } from '../store/layout.ts';
import type { Table } from '../store/lmdb.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import type { Applied } from './entry.ts';
import { isOwnFact } from './replica-state.ts';

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
}

export type ReplicaTable = Exclude<keyof ReplicaStore, 'lmdb'>;

/** What a replica consists of. */
export const replicaTables: readonly ReplicaTable[] = [
  ...([
    'replica',
    'series',
    'streamSeries',
    'counts',
    'carried',
    'measurements',
    'seen',
    'sketches',
  ] as const),
  ...(['messages', 'messageTimes', 'identities', 'identityDays', 'exposures', 'exposureDays'] as const),
  ...(['forgotten', 'erased', 'senders', 'ledger'] as const),
];

/** Whether a row belongs to the node, not to what the log says: its own facts, and the secret of its digests. */
export function isOwnRow(table: string, key: Buffer): boolean {
  if (table === 'replica') return isOwnFact(key);
  return table === 'identities' && key.toString() === 'secret';
}

/** The head of a snapshot of this program. */
export function headOf({ position, id }: Applied): SnapshotHead {
  return { format: snapshotFormat, layout: currentLayout(usageLayout), position, id, tables: replicaTables };
}

const partHead = 5;
const rowHead = 9;

/** Collects the rows of one part. */
export class PartWriter {
  #bytes: Buffer;
  #end = partHead;

  /** @param size bytes at which a part is full */
  constructor(size: number, number: number, head?: SnapshotHead) {
    this.#bytes = Buffer.allocUnsafe(size * 2);
    this.#bytes.writeUInt32LE(number, 0);
    if (head === undefined) return;
    const text = Buffer.from(JSON.stringify(head));
    this.#end = this.#bytes.writeUInt32LE(text.length, partHead);
    this.#end += text.copy(this.#bytes, this.#end);
  }

  get length(): number {
    return this.#end;
  }

  add(table: number, key: Buffer, value: Buffer): void {
    const needed = this.#end + rowHead + key.length + value.length;
    if (needed > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], needed * 2);
    const at = this.#bytes.writeUInt8(table, this.#end);
    this.#bytes.writeUInt32LE(key.length, at);
    this.#bytes.writeUInt32LE(value.length, at + 4);
    key.copy(this.#bytes, at + 8);
    value.copy(this.#bytes, at + 8 + key.length);
    this.#end = needed;
  }

  finish(isLast: boolean): Buffer {
    this.#bytes[4] = Number(isLast);
    return this.#bytes.subarray(0, this.#end);
  }
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

/** Reads what a `PartWriter` wrote. @throws {SnapshotUnreadable} also while the rows are read */
export function readPart(bytes: Buffer, number: number): Part {
  if (bytes.length < partHead || bytes.readUInt32LE(0) !== number) {
    throw new SnapshotUnreadable(`Cannot load the snapshot: its part ${number} is missing or damaged`);
  }
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
  const head = parse(text);
  const wanted = headOf({ position: 0, id: '0' });
  if (head.format === wanted.format && head.layout === wanted.layout) return head;
  const [found, known] = [`${head.format}.${head.layout}`, `${wanted.format}.${wanted.layout}`];
  throw new SnapshotUnreadable(
    `Cannot load the snapshot: another version of flagmeter wrote it, in format ${found}, and this version reads ${known}; update this node, or wait for a snapshot of a node of this version`,
  );
}

function parse(text: string): SnapshotHead {
  try {
    return JSON.parse(text) as SnapshotHead;
  } catch {
    throw new SnapshotUnreadable('Cannot load the snapshot: its head is damaged');
  }
}

function* readRows(bytes: Buffer, from: number, number: number): Generator<PartRow> {
  let at = from;
  while (at < bytes.length) {
    const keyEnd =
      at + rowHead <= bytes.length ? at + rowHead + bytes.readUInt32LE(at + 1) : bytes.length + 1;
    const end = keyEnd <= bytes.length ? keyEnd + bytes.readUInt32LE(at + 5) : keyEnd;
    if (end > bytes.length)
      throw new SnapshotUnreadable(`Cannot load the snapshot: its part ${number} is damaged`);
    yield {
      table: bytes[at]!,
      key: bytes.subarray(at + rowHead, keyEnd),
      value: bytes.subarray(keyEnd, end),
    };
    at = end;
  }
}

/** A table that replicas of earlier versions had: its rows are left out. */
const formerTable = 'refused';

/** The tables that a head names, by their places; `undefined` in the place of a former one. @throws {SnapshotUnreadable} */
export function tablesOf(
  store: ReplicaStore,
  { tables }: SnapshotHead,
): ({ readonly name: ReplicaTable; readonly table: Table } | undefined)[] {
  return tables.map((each) => {
    if (each === formerTable) return undefined;
    const name = replicaTables.find((known) => known === each);
    if (name === undefined)
      throw new SnapshotUnreadable(`Cannot load the snapshot: it has an unknown table (${each})`);
    return { name, table: store[name] };
  });
}
