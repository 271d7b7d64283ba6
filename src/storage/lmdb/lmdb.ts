/*
 * src/storage/lmdb: the LMDB stores. A data directory has two: `accounts` (records, see accounts.ts) and `usage`
 * (cells, sketches, ledger, see usage.ts). Each table has a file with the format of its keys and values; layout.ts
 * migrates between versions, lock.ts admits one process, and data-directory.ts finds damage. Only this folder imports
 * lmdb.
 */

import { chmodSync, existsSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { type Database, open, type RootDatabase } from 'lmdb';
import { cannotOpen } from './data-directory.ts';
import { type FileIdentity, identifyFile } from './disk.ts';

export type LmdbEnvironment = RootDatabase<Buffer, Buffer> & { readonly fileIdentity: FileIdentity };

/**
 * Maximum size of a store. The size is address space, which costs nothing until it is used. Three stores must fit into
 * the address space that a 64-bit system gives a process, which is at least 512 GiB. The default of lmdb for this
 * version of LMDB is 1 GiB, and commits to a larger store would fail.
 */
export const maxStoreBytes = 128 * 2 ** 30;

/**
 * Opens one LMDB environment in `path`, which is created if it is missing, readable by its owner only.
 *
 * With `overlappingSync: false`, a commit returns only after fdatasync, before which data must not be acknowledged.
 * noSync, noMetaSync and useWritemap stay off for the same reason.
 *
 * `eventTurnBatching: false` leaves the batching of writes to this program. Otherwise the library creates a promise in
 * each iteration of the event loop. A failed commit would reject this promise, which has no handler.
 * @throws {Error} if the file is empty, because LMDB would begin a new store in it
 */
export function openLmdb(path: string): LmdbEnvironment {
  const file = join(path, 'data.mdb');
  if (statSync(file, { throwIfNoEntry: false })?.size === 0) throw cannotOpen(file, 'it is empty');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  reserveLockFile(join(path, 'lock.mdb'));
  const lmdb = open<Buffer, Buffer>({
    path,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
    maxDbs: 64,
    mapSize: maxStoreBytes,
    permissionsMode: 0o600,
  } as Parameters<typeof open<Buffer, Buffer>>[0]);
  chmodSync(path, 0o700);
  // A restored backup can have files with other modes.
  for (const name of ['data.mdb', 'lock.mdb']) chmodSync(join(path, name), 0o600);
  return Object.assign(lmdb, { fileIdentity: identifyFile(file) });
}

/** The size of LMDB's lock file for its default number of readers. */
const lockFileBytes = 8192;

/**
 * Creates the lock file with all of its blocks allocated. LMDB itself would create a sparse file and map it into
 * memory. On a full disk, the first write to that memory kills the process (SIGBUS). The file is linked into place once
 * it is complete, because other threads can open it at the same time.
 * @throws {Error} if the disk is full
 */
function reserveLockFile(file: string): void {
  if (existsSync(file)) return;
  const made = `${file}.${process.pid}.${threadId}.tmp`;
  try {
    writeFileSync(made, Buffer.alloc(lockFileBytes), { mode: 0o600 });
  } catch (error) {
    rmSync(made, { force: true });
    throw new Error(`Cannot make ${file}: ${(error as Error).message}`, { cause: error });
  }
  try {
    linkSync(made, file);
  } catch {
    // Another thread has created the file, or the file system has no hard links. LMDB then creates the file.
  } finally {
    rmSync(made, { force: true });
  }
}

export type Table = Database<Buffer, Buffer>;

export function openTable(lmdb: RootDatabase<Buffer, Buffer>, name: string): Table {
  return lmdb.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
}

export function openTables<Name extends string>(
  lmdb: RootDatabase<Buffer, Buffer>,
  names: readonly Name[],
): Readonly<Record<Name, Table>> {
  const tables = names.map((name) => [name, openTable(lmdb, name)]);
  return Object.fromEntries(tables) as Record<Name, Table>;
}

/** A table of JSON records with strings as keys. */
export function openRecords<T>(lmdb: RootDatabase<Buffer, Buffer>, name: string): Database<T, string> {
  return lmdb.openDB<T, string>({ name, encoding: 'json' });
}

/**
 * Runs `action` as one transaction, which is on disk when this returns. LMDB's asynchronous transactions are not used,
 * because a failed transaction also causes an unhandled rejection.
 * @param undo called after a failure; no part of the transaction was stored
 * @throws {FileGoneError} if the file was removed or replaced
 * @throws the error of the action, or an error of LMDB with its number as `code`
 */
export function transact<T>(lmdb: LmdbEnvironment, action: () => T, undo: () => void = () => {}): T {
  try {
    const result = lmdb.transactionSync(action);
    lmdb.fileIdentity.check();
    return result;
  } catch (error) {
    undo();
    throw error;
  }
}
