import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { readNumber, treesAreWhole } from './trees.ts';

/** How a meta page lies in LMDB's file, of which the first two pages are such: see trees.ts. */
const magic = 0xbeefc0de;
const at = { magic: 16, pageSize: 40, freeRoot: 80, mainRoot: 128, lastPage: 136, transaction: 144 };
const metaBytes = 152;
const smallestPage = 512;

interface Meta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly roots: readonly number[];
}

/**
 * Makes sure that the files of a data directory can be opened: LMDB maps a file into memory, and what is missing of it
 * then ends the process without a word. Call it once, before anything is written.
 * @throws {Error} that names the file, and says what is wrong and what to do
 */
export function checkDataFiles(data: string): void {
  const accounts = join(data, 'accounts/data.mdb');
  const usage = join(data, 'usage/data.mdb');
  // The accounts are all read at the start, and so are not too long to be looked through.
  if (existsSync(accounts)) check(accounts, true);
  if (existsSync(usage)) check(usage, false);
  // The usage of applications that are gone must not be taken for that of new ones.
  if (!existsSync(accounts) && existsSync(usage)) throw unusable(accounts, 'it is missing');
}

function check(file: string, wholly: boolean): void {
  const descriptor = openSync(file, 'r+'); // LMDB's own message for one that cannot be written names no file.
  try {
    const fault = faultOf(descriptor, wholly);
    if (fault !== undefined) throw unusable(file, fault);
  } finally {
    closeSync(descriptor);
  }
}

function unusable(file: string, fault: string): Error {
  const must =
    'restore the data directory from a backup, or move it away to begin anew without the data that is in it';
  return new Error(`Cannot open ${file}: ${fault}; ${must}`);
}

function faultOf(descriptor: number, wholly: boolean): string | undefined {
  const { size } = fstatSync(descriptor);
  if (size === 0) return 'it is empty';
  const first = readMeta(descriptor, 0);
  const second = first && readMeta(descriptor, first.pageSize);
  if (first === undefined || second === undefined)
    return 'it is damaged, or not from this version: its first pages are not those of a store';
  const { pageSize, lastPage, roots } = second.transaction > first.transaction ? second : first;
  const pages = Math.floor(size / pageSize);
  // A file may rightly end before its last page, when nothing is on the pages that are not there.
  const reachesEnd = pages > lastPage;
  if (reachesEnd && !wholly) return undefined;
  if (treesAreWhole((page) => read(descriptor, page * pageSize, pageSize), roots, pages)) return undefined;
  return reachesEnd ? 'it is damaged' : `it is cut off after ${size} bytes`;
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
    roots: [readNumber(page, at.freeRoot), readNumber(page, at.mainRoot)],
  };
}

/** What is there of `length` bytes from `position` on. */
function read(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
}
