import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip as gunzipWithCallback, gzip as gzipWithCallback } from 'node:zlib';
import { numbersOfEnvironments } from '../storage/lmdb/blocks.ts';
import { currentLayout, usageLayout } from '../storage/lmdb/layout.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import { putRollUpState, readRollUpState } from '../storage/lmdb/roll-up-state.ts';
import { openSnapshot, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { type LogPosition, logStart } from './postgres/follower.ts';
import { ReplicaState } from './replica-state.ts';

const gzip = promisify(gzipWithCallback);

/**
 * The format in which the rows of a replica are transferred: parts, each compressed separately.
 *
 * A part begins with its number (u32, from 0), and 1 if it is the last part, else 0 (u8). The first part continues with
 * the length of the head (u32) and the head as JSON. The rows follow: the table by its index in the head (u8), the
 * lengths of key and value (u32 each), key, value. All numbers are little-endian. The head names the layout of the
 * usage store from which the rows come.
 */
const snapshotFormat = 1;

interface SnapshotHead extends LogPosition {
  readonly format: number;
  /** See storage/lmdb/layout.ts. */
  readonly layout: number;
  readonly tables: readonly string[];
}

type ReplicaTable = Exclude<keyof ReplicaStore, 'lmdb'>;

export const snapshotTables: readonly ReplicaTable[] = [
  ...(['replica', 'series', 'streamSeries', 'counts', 'carried', 'measurements', 'seen'] as const),
  ...(['sketches', 'messages', 'messageTimes', 'identities', 'identityDays', 'exposures'] as const),
  ...(['exposureDays', 'forgotten', 'erased', 'senders', 'ledger', 'cumulative', 'totals'] as const),
];

/** The rows that belong to the node and are not transferred: facts about itself, and the secret key of its digests. */
const ownRows: { readonly [Name in ReplicaTable]?: { readonly start: Buffer; readonly end: Buffer } } = {
  replica: { start: Buffer.from('own:'), end: Buffer.from('own;') },
  identities: { start: Buffer.from('secret'), end: Buffer.from('secret\0') },
};

function isOwnRow(table: ReplicaTable, key: Buffer): boolean {
  const own = ownRows[table];
  return own !== undefined && key.compare(own.start) >= 0 && key.compare(own.end) < 0;
}

/** Lists the tables of a snapshot. Omits the last two if both are empty, because older releases do not know them. */
function listTables({ cumulative, totals }: ReplicaStore, transaction: Snapshot): readonly ReplicaTable[] {
  const isUsed = [cumulative, totals].some((table) => [...table.getKeys({ transaction, limit: 1 })].length > 0);
  return isUsed ? snapshotTables : snapshotTables.slice(0, -2);
}

/** Returns the head of a snapshot in the current format. */
function createHead({ position, id }: LogPosition, tables = snapshotTables): SnapshotHead {
  return { format: snapshotFormat, layout: currentLayout(usageLayout), position, id, tables };
}

const partHead = 5;
const rowHead = 9;

/** Bytes of rows in a part. A compressed part is about 1 MiB. */
const usualPartBytes = 3 * 2 ** 20;
/** Number of bytes of rows that are collected between two pauses. This takes one or two milliseconds. */
const sliceBytes = 256 * 1024;

/** The content of a replica at one position of the log. While it is open, commits make the file grow. */
export class ReplicaSnapshot {
  /** The last log entry that the snapshot includes. */
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

  /** Yields the parts in order, with pauses for the event loop. Closes the snapshot at the end. Call it once. */
  async *parts(): AsyncGenerator<Buffer, void, undefined> {
    try {
      let compressed: Promise<Buffer> | undefined;
      for await (const part of this.#rawParts()) {
        // The next part is collected while the last part is compressed in another thread.
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
    if (transaction === undefined) throw new Error('The parts of a snapshot can be read only once');
    let number = 0;
    let bytes = 0;
    let slice = 0;
    let rows: Buffer[] = [];
    const tables = listTables(this.#store, transaction);
    const finish = (isLast: boolean) =>
      encodePart(number, rows, isLast, number === 0 ? createHead(this.applied, tables) : undefined);
    for (const [index, name] of tables.entries()) {
      for (const { key, value } of this.#store[name].getRange({ transaction })) {
        if (isOwnRow(name, key)) continue;
        const row = encodeRow(index, key, value);
        rows.push(row);
        bytes += row.length;
        slice += row.length;
        if (slice < Math.min(sliceBytes, this.#partBytes)) continue;
        slice = 0;
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

/** Encodes a part. @param head included in the first part */
function encodePart(number: number, rows: readonly Buffer[], isLast: boolean, head?: SnapshotHead): Buffer {
  const text = Buffer.from(head === undefined ? '' : JSON.stringify(head));
  const start = Buffer.allocUnsafe(partHead + (head === undefined ? 0 : 4));
  start.writeUInt32LE(number, 0);
  start.writeUInt8(Number(isLast), 4);
  if (head !== undefined) start.writeUInt32LE(text.length, partHead);
  return Buffer.concat([start, text, ...rows]);
}

/** Encodes a row. @param table index of its table in the head */
function encodeRow(table: number, key: Buffer, value: Buffer): Buffer {
  const row = Buffer.allocUnsafe(rowHead + key.length + value.length);
  row.writeUInt8(table, 0);
  row.writeUInt32LE(key.length, 1);
  row.writeUInt32LE(value.length, 5);
  key.copy(row, rowHead);
  value.copy(row, rowHead + key.length);
  return row;
}

/** Error if the parts are not a complete snapshot in a format that this version knows. */
export class SnapshotUnreadable extends Error {
  override readonly name = 'SnapshotUnreadable';

  constructor(why: string) {
    super(`Cannot load the snapshot: ${why}`);
  }
}

const gunzip = promisify(gunzipWithCallback);

/** Bytes of rows in one transaction. The two disk flushes of a transaction take longer than writing the rows. */
const stepBytes = 4 * 1024 * 1024;
/** Maximum inflated size of a part. */
const maxPartBytes = 64 * 2 ** 20;
/**
 * Each load adds this value to the counter `late` of an environment, so that reports drop cached data. The counter also
 * counts late data, but never reaches this value by late data alone.
 */
const lateOfLoad = 2 ** 32;

/**
 * Replaces the content of a replica with a snapshot, in transactions of about 30 ms. The position is written last, so
 * that an interrupted load is detected. The file is not replaced, because other threads have it open.
 * @throws {SnapshotUnreadable} if a part is damaged or missing, or if another version wrote the snapshot; then nothing
 * was changed
 */
export async function loadSnapshot(
  store: ReplicaStore,
  state: ReplicaState,
  parts: AsyncIterable<Uint8Array>,
): Promise<void> {
  let number = 0;
  let head: SnapshotHead | undefined;
  let tables: ReturnType<typeof knownTables> = [];
  let before: ReadonlySet<number> = new Set();
  let isWhole = false;
  for await (const compressed of parts) {
    if (isWhole) throw new SnapshotUnreadable('something follows its last part');
    const part = readPart(await inflate(compressed, number), number);
    if (part.head !== undefined) {
      head = part.head;
      tables = knownTables(head);
      before = await empty(store, state);
    }
    await putRows(store, tables, part.rows);
    number += 1;
    isWhole = part.isLast;
  }
  if (head === undefined || !isWhole) throw new SnapshotUnreadable('its last part is missing');
  const { position, id } = head;
  finish(store, state, before, { position, id });
}

/** Empties a replica, so that it starts with the first entry of the log. */
export async function loadNothing(store: ReplicaStore, state: ReplicaState): Promise<void> {
  finish(store, state, await empty(store, state), undefined);
}

/** Empties the replica. @returns the environments that had records */
async function empty(store: ReplicaStore, state: ReplicaState): Promise<ReadonlySet<number>> {
  const before = new Set(Array.from(store.carried.getKeys(), (key) => key.readUInt32BE(0)));
  transact(store.lmdb, () => {
    state.set('own:loads', (state.get('own:loads') ?? 0) + 1);
    state.set('own:loading', true);
    state.remove('own:applied');
  });
  await emptyTables(store);
  return before;
}

function finish(
  store: ReplicaStore,
  state: ReplicaState,
  before: ReadonlySet<number>,
  applied: LogPosition | undefined,
): void {
  transact(store.lmdb, () => {
    renewLate(store, new Set([...before, ...numbersOfEnvironments(store.counts)]), state.get('own:loads')!);
    state.forget();
    if (applied !== undefined) state.set('own:applied', applied);
    state.set('own:loading', false);
  });
}

async function inflate(compressed: Uint8Array, number: number): Promise<Buffer> {
  try {
    return await gunzip(compressed, { maxOutputLength: maxPartBytes });
  } catch (error) {
    throw new SnapshotUnreadable(`its part ${number} cannot be inflated: ${(error as Error).message}`);
  }
}

/** Empties the tables. LMDB frees the pages of a table without reading its rows, so each transaction is short. */
async function emptyTables(store: ReplicaStore): Promise<void> {
  for (const name of snapshotTables) {
    const table = store[name];
    const range = ownRows[name];
    transact(store.lmdb, () => {
      const own = Array.from(range === undefined ? [] : table.getRange(range), ({ key, value }) => {
        return [Buffer.from(key), Buffer.from(value)] as const;
      });
      table.clearSync();
      for (const [key, value] of own) table.putSync(key, value);
    });
    await setImmediate();
  }
}

async function putRows(
  store: ReplicaStore,
  tables: ReturnType<typeof knownTables>,
  rows: SnapshotPart['rows'],
): Promise<void> {
  let next = rows.next();
  while (next.done !== true) {
    transact(store.lmdb, () => {
      for (let bytes = 0; bytes < stepBytes && next.done !== true; next = rows.next()) {
        const { table: place, key, value } = next.value;
        bytes += key.length + value.length;
        if (place >= tables.length) throw new SnapshotUnreadable('a row belongs to no table');
        const name = tables[place];
        if (name !== undefined && !isOwnRow(name, key)) store[name].putSync(key, value);
      }
    });
    await setImmediate();
  }
}

/** Invalidates the caches of reports, by a new value of the counter `late` of each environment. */
function renewLate({ carried }: ReplicaStore, environments: Iterable<number>, loads: number): void {
  const renewed = (late: number) => loads * lateOfLoad + (late % lateOfLoad);
  for (const environment of environments) {
    const known = readRollUpState(carried, environment);
    const counters = { late: renewed(known.late), lateUsers: renewed(known.lateUsers) };
    putRollUpState(carried, environment, { ...known, ...counters });
  }
}

interface SnapshotPart {
  readonly isLast: boolean;
  /** Head of the snapshot; only the first part has one. */
  readonly head: SnapshotHead | undefined;
  readonly rows: Generator<PartRow>;
}

interface PartRow {
  readonly table: number;
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Reads a part encoded by `encodePart`. @throws {SnapshotUnreadable} also while the rows are read */
function readPart(bytes: Buffer, number: number): SnapshotPart {
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
  const wanted = createHead({ position: 0, id: '0' });
  if (head.format === wanted.format && head.layout === wanted.layout) return head;
  const found = `${head.format}.${head.layout}`;
  const known = `${wanted.format}.${wanted.layout}`;
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

/** A table of earlier versions. Its rows are skipped. */
const formerTable = 'refused';

/** Returns the tables of a head, with `undefined` for a former table. @throws {SnapshotUnreadable} */
function knownTables({ tables }: SnapshotHead): (ReplicaTable | undefined)[] {
  return tables.map((each) => {
    const name = snapshotTables.find((known) => known === each);
    if (name === undefined && each !== formerTable) throw new SnapshotUnreadable(`it has an unknown table (${each})`);
    return name;
  });
}
