import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip as gunzipWithCallback } from 'node:zlib';
import { numbersOfEnvironments } from '../store/blocks.ts';
import { putCarried, readCarried } from '../store/carried.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import { transact } from '../store/transact.ts';
import type { Applied } from './entry.ts';
import type { ReplicaState } from './replica-state.ts';
import {
  isOwnRow,
  ownRows,
  type Part,
  readPart,
  replicaTables,
  type SnapshotHead,
  SnapshotUnreadable,
  tablesOf,
} from './snapshot-rows.ts';

const gunzip = promisify(gunzipWithCallback);

/** Bytes of rows that one transaction puts. Each ends with two flushes of the disk, which take longer than the rows. */
const stepBytes = 4 * 1024 * 1024;
/** A part inflates to no more than this. */
const maxPartBytes = 64 * 2 ** 20;
/** Reports keep what they have read for as long as `late` of its environment stays; it never gets so high by itself. */
const lateOfLoad = 2 ** 32;

/**
 * Empties the tables of a replica and puts the rows of a snapshot, in transactions of some 30 milliseconds. The position is put last,
 * so after a crash the replica knows that it has to load one. The file stays, because other threads have it open.
 * @throws {SnapshotUnreadable} When another version wrote it, nothing was changed.
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

/** Empties the tables of a replica: it begins with the first entry of the log. */
export async function loadNothing(store: ReplicaStore, state: ReplicaState): Promise<void> {
  finish(store, state, await empty(store, state), undefined);
}

/** @returns the environments that something was kept of */
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
  applied: Applied | undefined,
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

/** LMDB frees the pages of a table without reading its rows, so one transaction a table is short. */
async function emptyTables(store: ReplicaStore): Promise<void> {
  for (const name of replicaTables) {
    const [table, range] = [store[name], ownRows[name]];
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

/** What reports remember of before is not what was loaded, though it may look so. */
function renewLate({ carried }: ReplicaStore, environments: Iterable<number>, loads: number): void {
  const renewed = (late: number) => loads * lateOfLoad + (late % lateOfLoad);
  for (const environment of environments) {
    const known = readCarried(carried, environment);
    const marks = { late: renewed(known.late), lateUsers: renewed(known.lateUsers) };
    putCarried(carried, environment, { ...known, ...marks });
  }
}
