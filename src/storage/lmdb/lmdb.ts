/*
 * src/storage/lmdb: what is kept on disk. A data directory has two LMDB stores: `accounts` (records, see accounts.ts) and `usage`
 * (cells, sketches, ledger, see usage.ts). Each table has a file with the format of its keys and values; layout.ts migrates
 * between versions, lock.ts admits one process, and data-file.ts finds damage. Only this folder imports lmdb.
 */
import { chmodSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { type Database, open, type RootDatabase } from 'lmdb';
import { type FileIdentity, identifyFile } from './file-identity.ts';

/** An LMDB environment, and the identity of its file. */
export type LmdbEnvironment = RootDatabase<Buffer, Buffer> & { readonly fileIdentity: FileIdentity };

/**
 * The most that a store can hold. It is address space, which costs nothing until it is used; three stores have to fit into the
 * least that a 64-bit system gives a process: 512 GiB. Without it lmdb takes 1 GiB for a LMDB of this version, and a commit
 * beyond that fails.
 */
export const maxStoreBytes = 128 * 2 ** 30;

/**
 * Opens one LMDB environment in `path`, which is made when missing, readable by its owner only.
 *
 * `overlappingSync: false` makes a commit return only after fdatasync: nothing may be answered as accepted before that.
 * noSync, noMetaSync and useWritemap stay off for the same reason.
 *
 * `eventTurnBatching: false` leaves the batches of writes to us. With it, the library makes one more promise for each turn of
 * the event loop, which no caller gets: when a commit fails, that is an unhandled rejection.
 */
export function openLmdb(path: string): LmdbEnvironment {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  reserveLockFile(join(path, 'lock.mdb'));
  const lmdb = open<Buffer, Buffer>({
    path,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
    maxDbs: 32,
    mapSize: maxStoreBytes,
    permissionsMode: 0o600,
  } as Parameters<typeof open<Buffer, Buffer>>[0]);
  chmodSync(path, 0o700);
  // Restoring a backup may have changed their modes.
  for (const name of ['data.mdb', 'lock.mdb']) chmodSync(join(path, name), 0o600);
  return Object.assign(lmdb, { fileIdentity: identifyFile(join(path, 'data.mdb')) });
}

/** The size of LMDB's lock file for its default number of readers. */
const lockFileBytes = 8192;

/**
 * Makes the lock file with all of its blocks allocated. LMDB makes a sparse file and maps it into memory, so that on a
 * full disk the first write to it kills the process (SIGBUS). It is linked into place complete, because other threads may
 * open it at the same time.
 * @throws {Error} when the disk is full
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
    // Another thread was faster, or the file system has no hard links; then LMDB makes the file.
  } finally {
    rmSync(made, { force: true });
  }
}

/** A table of binary keys and binary values. */
export type Table = Database<Buffer, Buffer>;

/** Opens a table, and makes it when it is missing. */
export function openTable(lmdb: RootDatabase<Buffer, Buffer>, name: string): Table {
  return lmdb.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
}

/** A table of JSON records under string keys. */
export function openRecords<T>(lmdb: RootDatabase<Buffer, Buffer>, name: string): Database<T, string> {
  return lmdb.openDB<T, string>({ name, encoding: 'json' });
}
