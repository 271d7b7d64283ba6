import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { isStoreFailure } from '../errors.ts';
import { findDamagedPage, type Roots } from './find-damaged-page.ts';
import { readNumber } from './lmdb-page.ts';
import type { Reading } from './snapshot.ts';

/** Offsets in a meta page. The first two pages of LMDB's file are meta pages: see lmdb-page.ts. */
const magic = 0xbeefc0de;
const at = { magic: 16, pageSize: 40, freeRoot: 80, mainRoot: 128, lastPage: 136, transaction: 144 };
const metaBytes = 152;
const smallestPage = 512;

/** A sound file may end before its last page number, by at most this many pages. */
const maxMissing = 2 ** 20;

/** How long the files are checked before they are opened, ms. The rest is checked later. */
const budgetMs = 1000;

interface Meta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly roots: Roots;
}

/** The data files that exist in a data directory. */
export function dataFilesIn(data: string): readonly string[] {
  return ['accounts', 'usage'].map((name) => join(data, name, 'data.mdb')).filter((file) => existsSync(file));
}

/**
 * Makes sure that the files of a data directory can be opened. LMDB maps a file into memory, and access beyond its end
 * kills the process (SIGBUS). Call this once, before anything is written.
 * @returns false when time ran out before everything was checked
 * @throws {Error} that names the file, the fault and the remedy
 */
export function checkDataFiles(data: string, clock: Pick<Clock, 'monotonic'> = systemClock): boolean {
  const end = clock.monotonic() + budgetMs;
  checkPresence(data);
  return dataFilesIn(data)
    .map((file) => check(file, () => clock.monotonic() < end))
    .every(Boolean);
}

/** @throws {Error} when there are data files but not that of the accounts, to which the others refer */
export function checkPresence(data: string): void {
  const accounts = join(data, 'accounts/data.mdb');
  // Usage of lost applications must not be attributed to new ones that get the same numbers.
  if (!existsSync(accounts) && dataFilesIn(data).length > 0) throw cannotOpen(accounts, 'it is missing');
}

function check(file: string, hasTime: () => boolean): boolean {
  const descriptor = openSync(file, 'r+'); // LMDB's own error for a read-only file does not name it.
  try {
    // A file that ends early is checked completely, however long that takes: a missing page would kill the process.
    const mayContinue = endsEarly(descriptor) ? () => true : hasTime;
    const checking = checkPages(descriptor);
    for (let step = checking.next(); ; step = checking.next()) {
      if (step.done && step.value !== undefined) throw cannotOpen(file, step.value);
      if (step.done || !mayContinue()) return step.done === true;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** What to do about a damaged file. */
export const remedy = 'restore the data directory from a backup, or move it away to start without its data';

/** The error for a file that cannot be opened. */
export function cannotOpen(file: string, fault: string): Error {
  return new Error(`Cannot open ${file}: ${fault}; ${remedy}`);
}

/**
 * Reads a store while it is being opened, and explains a failure: records can be damaged on well-formed pages.
 * @throws {Error} that names the file, the fault and the remedy
 */
export async function explainDamage<T>(
  data: string,
  store: 'accounts' | 'usage',
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw cannotOpen(join(data, store, 'data.mdb'), `what is in it cannot be read (${error.message})`);
  }
}

/** LMDB's own error codes are negative; the system errors that it passes on are positive. */
function isDamage(error: unknown): error is Error {
  if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return true;
  return isStoreFailure(error) && (error as Error & { code: number }).code < 0;
}

/**
 * Checks all pages of a data file and pauses after each. The file must not be written to meanwhile.
 * @returns the fault; `undefined` when the file is sound
 */
export function* checkPages(descriptor: number): Reading<string | undefined> {
  const { size } = fstatSync(descriptor);
  if (size === 0) return 'it is empty';
  const meta = newestMeta(descriptor);
  if (meta === undefined)
    return 'it is damaged, or not from this version: it does not start with the pages of a store';
  const { pageSize, lastPage, roots } = meta;
  const count = Math.floor(size / pageSize);
  if (lastPage > count + maxMissing) return `it is damaged, or cut off after ${size} bytes`;
  const pages = {
    count,
    end: Math.max(lastPage + 1, count),
    read: (page: number, many: number) => read(descriptor, page * pageSize, many * pageSize),
  };
  const damaged = yield* findDamagedPage(pages, roots);
  if (damaged === undefined) return undefined;
  return count > lastPage ? `it is damaged: page ${damaged}` : `it is cut off after ${size} bytes`;
}

/** Whether a file has fewer pages than it has page numbers. */
function endsEarly(descriptor: number): boolean {
  const meta = newestMeta(descriptor);
  return meta !== undefined && Math.floor(fstatSync(descriptor).size / meta.pageSize) <= meta.lastPage;
}

/** The meta page of the last commit; `undefined` unless both meta pages are valid. */
function newestMeta(descriptor: number): Meta | undefined {
  const first = readMeta(descriptor, 0);
  const second = first && readMeta(descriptor, first.pageSize);
  if (first === undefined || second?.pageSize !== first.pageSize) return undefined;
  return second.transaction > first.transaction ? second : first;
}

function readMeta(descriptor: number, position: number): Meta | undefined {
  const page = read(descriptor, position, metaBytes);
  if (page.length < metaBytes || page.readUInt32LE(at.magic) !== magic) return undefined;
  const pageSize = page.readUInt32LE(at.pageSize);
  if (pageSize < smallestPage) return undefined;
  return {
    pageSize,
    lastPage: readNumber(page, at.lastPage),
    transaction: readNumber(page, at.transaction),
    roots: { free: readNumber(page, at.freeRoot), main: readNumber(page, at.mainRoot) },
  };
}

/** Up to `length` bytes from `position`: fewer at the end of the file. */
function read(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
}
