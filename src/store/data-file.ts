import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { isStoreFailure } from '../errors.ts';
import { findDamagedPage, type Roots } from './find-damaged-page.ts';
import { readNumber } from './lmdb-page.ts';
import type { Reading } from './snapshot.ts';

/** How a meta page lies in LMDB's file, of which the first two pages are such: see page.ts. */
const magic = 0xbeefc0de;
const at = { magic: 16, pageSize: 40, freeRoot: 80, mainRoot: 128, lastPage: 136, transaction: 144 };
const metaBytes = 152;
const smallestPage = 512;

/** A file may rightly end before its last page, but not more pages before it than this. */
const maxMissing = 2 ** 20;

/** How long the files of a data directory are checked before they are opened, ms; the rest is checked later. */
const budgetMs = 1000;

interface Meta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly roots: Roots;
}

/** The data files of a directory, those that there are. */
export function dataFilesIn(data: string): readonly string[] {
  return ['accounts', 'usage'].map((name) => join(data, name, 'data.mdb')).filter((file) => existsSync(file));
}

/**
 * Makes sure that the files of a data directory can be opened: LMDB maps a file into memory, and what is missing of it
 * then ends the process without a word. Call it once, before anything is written.
 * @returns whether all of it was checked; otherwise there was no time for the rest
 * @throws {Error} that names the file, and says what is wrong and what to do
 */
export function checkDataFiles(data: string, clock: Pick<Clock, 'monotonic'> = systemClock): boolean {
  const end = clock.monotonic() + budgetMs;
  checkPresence(data);
  return dataFilesIn(data)
    .map((file) => check(file, () => clock.monotonic() < end))
    .every(Boolean);
}

/** @throws {Error} when there are files, but not the one without which they mean nothing */
export function checkPresence(data: string): void {
  const accounts = join(data, 'accounts/data.mdb');
  // The usage of applications that are gone must not be taken for that of new ones.
  if (!existsSync(accounts) && dataFilesIn(data).length > 0) throw cannotOpen(accounts, 'it is missing');
}

function check(file: string, hasTime: () => boolean): boolean {
  const descriptor = openSync(file, 'r+'); // LMDB's own message for one that cannot be written names no file.
  try {
    // One that ends early is checked to its end, however long that takes: LMDB would end the process at a missing page.
    const goOn = endsEarly(descriptor) ? () => true : hasTime;
    const looking = checkPages(descriptor);
    for (let step = looking.next(); ; step = looking.next()) {
      if (step.done && step.value !== undefined) throw cannotOpen(file, step.value);
      if (step.done || !goOn()) return step.done === true;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** What to do about a file that is damaged. */
export const remedy =
  'restore the data directory from a backup, or move it away to begin anew without the data that is in it';

/** The complaint about a file that cannot be opened. */
export function cannotOpen(file: string, fault: string): Error {
  return new Error(`Cannot open ${file}: ${fault}; ${remedy}`);
}

/**
 * Reads a store as it is opened. Its pages can be well-formed although the records on them are damaged.
 * @throws {Error} that names the file, and says what is wrong and what to do
 */
export async function explainDamage<T>(
  data: string,
  store: 'accounts' | 'usage',
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isNonsense(error)) throw error;
    throw cannotOpen(join(data, store, 'data.mdb'), `what is in it cannot be read (${error.message})`);
  }
}

/** LMDB's own errors have numbers below zero, those of the system that it passes on above. */
function isNonsense(error: unknown): error is Error {
  if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return true;
  return isStoreFailure(error) && (error as Error & { code: number }).code < 0;
}

/**
 * Checks all pages of a data file, which must not be written to meanwhile; pauses after each page.
 * @returns what is wrong with it, `undefined` when nothing is
 */
export function* checkPages(descriptor: number): Reading<string | undefined> {
  const { size } = fstatSync(descriptor);
  if (size === 0) return 'it is empty';
  const meta = newestMeta(descriptor);
  if (meta === undefined)
    return 'it is damaged, or not from this version: its first pages are not those of a store';
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

/** Whether a file has fewer pages than there are numbers for. */
function endsEarly(descriptor: number): boolean {
  const meta = newestMeta(descriptor);
  return meta !== undefined && Math.floor(fstatSync(descriptor).size / meta.pageSize) <= meta.lastPage;
}

/** The meta page that counts; `undefined` when one of the two is none. */
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

/** What is there of `length` bytes from `position` on. */
function read(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
}
