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

/** The right to be the one process that uses a data directory. */
export interface DataLock {
  /** Gives the directory free for the next process. */
  release(): void;
}

/**
 * Locks a data directory for this process, and makes the directory when it is missing. The system holds the lock, on the
 * directory itself and not on a file in it that could be removed, and releases it with the process, however that ends.
 * @throws {Error} that names the directory and the process that has it, or says why it cannot be locked
 */
export function lockDataDirectory(directory: string): DataLock {
  let descriptor: number | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, file.R_OK | file.W_OK | file.X_OK);
    descriptor = openSync(directory, 'r');
    const error = tryLock(descriptor);
    if (error === constants.errno.EWOULDBLOCK) throw new Error(`${holderOf(directory)} is using it`);
    if (error !== 0) throw new Error(`its file system cannot lock it (error ${error}); use a local disk`);
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw new Error(`Cannot use the data directory ${directory}: ${reasonOf(error)}`, { cause: error });
  }
  const held = descriptor;
  return { release: () => closeSync(held) };
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
function holderOf(directory: string): string {
  try {
    const { ino } = statSync(directory);
    const [, pid] =
      new RegExp(`FLOCK +ADVISORY +WRITE (\\d+) \\w+:\\w+:${ino} `).exec(
        readFileSync('/proc/locks', 'latin1'),
      ) ?? [];
    return pid === undefined ? 'another process' : `process ${pid}`;
  } catch {
    return 'another process';
  }
}
