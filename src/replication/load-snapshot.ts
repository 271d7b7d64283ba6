import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip as gunzipWithCallback } from 'node:zlib';
import { numbersOfEnvironments } from '../storage/lmdb/blocks.ts';
import { putCarried, readCarried } from '../storage/lmdb/carried.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { LogPosition } from './postgres/log-position.ts';
import type { ReplicaState } from './replica-state.ts';
import {
  headOf,
  isOwnRow,
  ownRows,
  partHead,
  type ReplicaTable,
  replicaTables,
  rowHead,
  type SnapshotHead,
} from './snapshot.ts';

/** The parts are not a complete snapshot in a format that this version knows. */
export class SnapshotUnreadable extends Error {
  override readonly name = 'SnapshotUnreadable';

  constructor(why: string) {
    super(`Cannot load the snapshot: ${why}`);
  }
}

const gunzip = promisify(gunzipWithCallback);

/** Bytes of rows in one transaction. Each ends with two flushes of the disk, which take longer than the rows. */
const stepBytes = 4 * 1024 * 1024;
/** Maximum inflated size of a part. */
const maxPartBytes = 64 * 2 ** 20;
/** Reports cache data while `late` of its environment is unchanged. `late` never reaches this value by itself. */
const lateOfLoad = 2 ** 32;

/**
 * Replaces the content of a replica by a snapshot, in transactions of about 30 ms. The position is written last, so the replica
 * detects an interrupted load. The file is kept, because other threads have it open.
 * @throws {SnapshotUnreadable} nothing was changed if another version wrote it
 */
export async function loadSnapshot(
  store: ReplicaStore,
  state: ReplicaState,
  parts: AsyncIterable<Uint8Array>,
): Promise<void> {
  let number = 0;
  let head: SnapshotHead | undefined;
  let tables: ReturnType<typeof tablesOf> = [];
  let before: ReadonlySet<number> = new Set();
  let isWhole = false;
  for await (const compressed of parts) {
    if (isWhole) throw new SnapshotUnreadable('something follows its last part');
    const part = readPart(await inflate(compressed, number), number);
    if (part.head !== undefined) {
      head = part.head;
      tables = tablesOf(head);
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

/** @returns the environments that had records */
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
  for (const name of replicaTables) {
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
  tables: ReturnType<typeof tablesOf>,
  rows: Part['rows'],
): Promise<void> {
  let next = rows.next();
  while (next.done !== true) {
    transact(store.lmdb, () => {
      for (let bytes = 0; bytes < stepBytes && next.done !== true; next = rows.next()) {
        const { table: place, key, value } = next.value;
        bytes += key.length + value.length;
        if (place >= tables.length) throw new SnapshotUnreadable('a row is of no table');
        const name = tables[place];
        if (name !== undefined && !isOwnRow(name, key)) store[name].putSync(key, value);
      }
    });
    await setImmediate();
  }
}

/** Invalidates what reports have cached, even if the loaded content looks the same. */
function renewLate({ carried }: ReplicaStore, environments: Iterable<number>, loads: number): void {
  const renewed = (late: number) => loads * lateOfLoad + (late % lateOfLoad);
  for (const environment of environments) {
    const known = readCarried(carried, environment);
    const marks = { late: renewed(known.late), lateUsers: renewed(known.lateUsers) };
    putCarried(carried, environment, { ...known, ...marks });
  }
}

interface Part {
  readonly isLast: boolean;
  /** In the first part only. */
  readonly head: SnapshotHead | undefined;
  readonly rows: Generator<PartRow>;
}

interface PartRow {
  readonly table: number;
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Reads a part of `encodePart`. @throws {SnapshotUnreadable} also while the rows are read */
function readPart(bytes: Buffer, number: number): Part {
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

/** The tables of a head; `undefined` for a former one. @throws {SnapshotUnreadable} */
function tablesOf({ tables }: SnapshotHead): (ReplicaTable | undefined)[] {
  return tables.map((each) => {
    const name = replicaTables.find((known) => known === each);
    if (name === undefined && each !== formerTable)
      throw new SnapshotUnreadable(`it has an unknown table (${each})`);
    return name;
  });
}
