import {
  accessSync,
  closeSync,
  constants as file,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as realPause } from 'node:timers/promises';
import * as lmdb from 'lmdb';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { explainFileError, permissionDenied, readable } from '../../runtime/files.ts';
import { dataFilesIn, finishCreation, ownStores } from './data-directory.ts';

/** The lock that lets only one process use a data directory. */
export interface DataLock {
  /** Also locks data files that were created after the directory was locked. */
  coverFiles(): void;
  release(): void;
}

/**
 * Locks a data directory, which is created if it is missing. The lock is on the directory itself, because a lock file
 * could be removed. The system releases the lock when the process ends. Data files are locked as well, because links to
 * them can exist elsewhere. Releasing removes a new directory that is still empty.
 * @param remedy what people can do if another process uses the directory
 * @throws {Error} that names the directory and the holder of the lock, or the reason why it cannot be locked
 */
export function lockDataDirectory(directory: string, remedy = ''): DataLock {
  const files = () => {
    finishCreation(directory); // `lockAll` calls this after it has locked the directory.
    return dataFilesIn(directory);
  };
  return lockAll({ directory, shown: `the data directory ${directory}`, option: '--data', remedy, files });
}

/**
 * Locks another directory for one process, and creates it if it is missing.
 * @param option the option that specifies the directory
 * @throws {Error}
 */
export function lockDirectory(directory: string, option: string): Pick<DataLock, 'release'> {
  return lockAll({ directory, shown: `${option} ${directory}`, option, remedy: '', files: () => [] });
}

interface LockRequest {
  readonly directory: string;
  readonly shown: string;
  readonly option: string;
  readonly remedy: string;
  files(): readonly string[];
}

function lockAll({ directory, shown, option, remedy, files }: LockRequest): DataLock {
  const held = new Map<string, number>();
  let created: string | undefined;
  const release = () => {
    if (created !== undefined) removeEmpty(directory, created);
    for (const descriptor of held.values()) closeSync(descriptor);
    held.clear();
  };
  const coverFiles = () => {
    for (const path of files()) if (!held.has(path)) held.set(path, lockPath(path, remedy));
  };
  try {
    created = mkdirSync(resolve(directory), { recursive: true, mode: 0o700 });
    accessSync(directory, file.R_OK | file.W_OK | file.X_OK);
    held.set(directory, lockPath(directory, remedy));
    coverFiles();
    return { coverFiles, release };
  } catch (error) {
    release();
    throw new Error(`Cannot use ${shown}: ${explainLockError(error, directory, option)}`, { cause: error });
  }
}

/** Removes an empty directory, and its parents up to the first directory that was created for it. */
function removeEmpty(directory: string, created: string): void {
  try {
    for (let at = resolve(directory); at.length >= created.length; at = dirname(at)) rmdirSync(at);
  } catch {
    // The directory stays, because it has data or other processes use it.
  }
}

/** @returns the descriptor that holds the lock */
function lockPath(path: string, remedy: string): number {
  const descriptor = openSync(path, 'r');
  const error = tryLock(descriptor);
  if (error === 0) return descriptor;
  closeSync(descriptor);
  if (error === constants.errno.EWOULDBLOCK)
    throw new Error(`${describeHolder(path)} is using it${remedy && `; ${remedy}`}`);
  throw new Error(`its file system cannot lock it (error ${error}); use a local disk`);
}

/** Locks a file that this process writes, unless its file system does not support locks. @returns the descriptor */
export function lockWritten(path: string): number {
  const descriptor = openSync(path, 'r');
  tryLock(descriptor);
  return descriptor;
}

/** True if any process, including this one, has locked the path. */
export function isLocked(path: string): boolean {
  const descriptor = readable(path, () => openSync(path, 'r'));
  const error = tryLock(descriptor);
  closeSync(descriptor);
  return error !== 0;
}

/** Returns the process that uses a data directory, for people; `undefined` if no process uses the directory. */
export function findDirectoryUser(directory: string): string | undefined {
  return isLocked(directory) ? describeHolder(directory) : undefined;
}

/** flock(2) from our add-on, because neither runtime offers it. Returns the errno, 0 for success. */
function tryLock(descriptor: number): number {
  const { nativeAddon } = lmdb as unknown as { nativeAddon: { tryLock?(descriptor: number): number } };
  if (nativeAddon.tryLock === undefined)
    throw new Error('the loaded LMDB add-on was not built for this program; run npm run build');
  return nativeAddon.tryLock(descriptor);
}

function explainLockError(error: unknown, directory: string, option: string): string {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `${permissionDenied(directory)}; run this as its owner, or choose another directory with ${option}`;
    case 'EROFS':
      return `its file system is read-only; choose a writable directory with ${option}`;
    case 'EEXIST':
      return 'it is not a directory';
    default:
      return explainFileError(error, directory);
  }
}

function describeHolder(path: string): string {
  const pid = lockHolder(path);
  return pid === undefined ? 'another process' : `process ${pid}`;
}

/**
 * Number of attempts to read the list of locks. Linux returns it page by page, so a held lock can be missing while
 * other locks are released.
 */
const readings = 5;

/**
 * The number of the process that holds the lock; `undefined` if the process is in another container, because Linux does
 * not show its number then.
 */
function lockHolder(path: string): string | undefined {
  for (let reading = 0; reading < readings; reading += 1) {
    const [holder] = listLockHolders(path, /FLOCK +ADVISORY +WRITE/);
    if (holder !== undefined) return holder;
  }
  return undefined;
}

/** The processes of this container that have locked a path, according to Linux. @param kind the kind of lock */
function listLockHolders(path: string, kind: RegExp): string[] {
  try {
    const { ino } = statSync(path);
    const lock = new RegExp(`${kind.source} (\\d+) \\w+:\\w+:${ino} `, 'g');
    return Array.from(readFileSync('/proc/locks', 'latin1').matchAll(lock), ([, pid]) => pid!);
  } catch {
    return [];
  }
}

/** Timeout for a server to open its stores, and the polling interval, ms. */
const patienceMs = 10_000;
const lookEveryMs = 50;

/**
 * Waits until this process can open the stores of a data directory that a server might be using. LMDB detects other
 * processes by their locks on its lock file. A server that starts or stops has locked the directory, but not yet the
 * lock file, and would not detect this process.
 * @throws {Error} if the server is in another container, or does not open its stores in time; the message contains the
 * remedy
 */
export async function waitUntilSharable(
  data: string,
  clock: Pick<Clock, 'monotonic'> = systemClock,
  pause: (ms: number) => Promise<unknown> = realPause,
): Promise<void> {
  const began = clock.monotonic();
  while (isLocked(data) && !hasOpenStores(data)) {
    const holder = lockHolder(data);
    if (holder === undefined && isLocked(data))
      throw new Error(
        `Cannot share ${data} with its server: it runs in another container; run this command in its container, or stop the server first`,
      );
    if (clock.monotonic() - began >= patienceMs)
      throw new Error(
        `Cannot share ${data} with process ${holder}, which has locked it but not opened its stores: wait until that server is ready, or stop it first; a server of version 0.1 must be stopped`,
      );
    await pause(lookEveryMs);
  }
}

function hasOpenStores(data: string): boolean {
  return dataFilesIn(data, ownStores).every(
    (file) => listLockHolders(join(dirname(file), 'lock.mdb'), /POSIX +ADVISORY +READ/).length > 0,
  );
}
