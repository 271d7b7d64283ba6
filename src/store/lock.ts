import {
  accessSync,
  closeSync,
  constants as file,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { constants } from 'node:os';
import * as lmdb from 'lmdb';
import { dataFilesIn } from './data-file.ts';

/** The right to be the one process that uses a data directory. */
export interface DataLock {
  /** Locks the files too that were made since. */
  coverFiles(): void;
  /** Gives the directory free for the next process. */
  release(): void;
}

/**
 * Locks a data directory for this process, and makes the directory when it is missing. The system holds the lock, on the
 * directory itself and not on a file in it that could be removed, and releases it with the process, however that ends. The
 * files of its stores are locked as well: links may lead to them from another directory.
 * @throws {Error} that names the directory and the process that has it, or says why it cannot be locked
 */
export function lockDataDirectory(directory: string): DataLock {
  const held = new Map<string, number>();
  const release = () => {
    for (const descriptor of held.values()) closeSync(descriptor);
    held.clear();
  };
  const coverFiles = () => {
    for (const path of dataFilesIn(directory)) if (!held.has(path)) held.set(path, lockPath(path));
  };
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, file.R_OK | file.W_OK | file.X_OK);
    held.set(directory, lockPath(directory));
    coverFiles();
    return { coverFiles, release };
  } catch (error) {
    release();
    throw new Error(`Cannot use the data directory ${directory}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Gives the descriptor that holds the lock. */
function lockPath(path: string): number {
  const descriptor = openSync(path, 'r');
  const error = tryLock(descriptor);
  if (error === 0) return descriptor;
  closeSync(descriptor);
  if (error === constants.errno.EWOULDBLOCK) throw new Error(`${holderOf(path)} is using it`);
  throw new Error(`its file system cannot lock it (error ${error}); use a local disk`);
}

/** flock(2), which the add-on that the build compiles brings along: neither runtime has it. Gives the error's number. */
function tryLock(descriptor: number): number {
  const { nativeAddon } = lmdb as unknown as { nativeAddon: { tryLock?(descriptor: number): number } };
  if (nativeAddon.tryLock === undefined)
    throw new Error('the LMDB add-on that is loaded is not the one of this program; run npm run build');
  return nativeAddon.tryLock(descriptor);
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there; give it the directory, or choose another with --data',
  EPERM: 'this user may not write there; give it the directory, or choose another with --data',
  EROFS: 'its file system is read-only; choose a directory that can be written with --data',
  ENOTDIR: 'a part of its path is not a directory',
  EEXIST: 'it is not a directory',
};

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

/** The process that holds the lock, as Linux lists it, unless that is in another container. */
function holderOf(path: string): string {
  try {
    const { ino } = statSync(path);
    const [, pid] =
      new RegExp(`FLOCK +ADVISORY +WRITE (\\d+) \\w+:\\w+:${ino} `).exec(
        readFileSync('/proc/locks', 'latin1'),
      ) ?? [];
    return pid === undefined ? 'another process' : `process ${pid}`;
  } catch {
    return 'another process';
  }
}
