import { chmodSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { type Database, open, type RootDatabase } from 'lmdb';
import { type FileIdentity, identifyFile } from './file-identity.ts';

/** An LMDB environment, which knows where its file is. */
export type LmdbEnvironment = RootDatabase<Buffer, Buffer> & { readonly fileIdentity: FileIdentity };

/**
 * Opens one LMDB environment in `path` (made when missing, for its owner only).
 *
 * `overlappingSync: false` makes a commit return only when fdatasync has: nothing may be answered as accepted
 * before. noSync, noMetaSync and useWritemap stay off for the same reason.
 */
export function openLmdb(path: string): LmdbEnvironment {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  reserveLockFile(join(path, 'lock.mdb'));
  const lmdb = open<Buffer, Buffer>({
    path,
    encoding: 'binary',
    keyEncoding: 'binary',
    overlappingSync: false,
    maxDbs: 32,
    permissionsMode: 0o600,
  } as Parameters<typeof open<Buffer, Buffer>>[0]);
  chmodSync(path, 0o700);
  // A backup may have given them other modes.
  for (const name of ['data.mdb', 'lock.mdb']) chmodSync(join(path, name), 0o600);
  return Object.assign(lmdb, { fileIdentity: identifyFile(join(path, 'data.mdb')) });
}

/** As long as LMDB makes its lock file for the number of readers that it takes by default. */
const lockFileBytes = 8192;

/**
 * Makes the lock file with all of its blocks. LMDB itself makes it without any and maps it into memory, and on a full disk
 * the first write to it then ends the process (SIGBUS). It appears whole at once: other threads may be opening it.
 * @throws {Error} when there is no room for it
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
    // Another thread was faster, or the file system has no links: then LMDB makes it.
  } finally {
    rmSync(made, { force: true });
  }
}

/** A table of binary keys and binary values. */
export type Table = Database<Buffer, Buffer>;

/** Opens a table of an environment, and makes it when it is not there. */
export function openTable(lmdb: RootDatabase<Buffer, Buffer>, name: string): Table {
  return lmdb.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
}

/** A table of JSON records under string keys. */
export function openRecords<T>(lmdb: RootDatabase<Buffer, Buffer>, name: string): Database<T, string> {
  return lmdb.openDB<T, string>({ name, encoding: 'json' });
}
