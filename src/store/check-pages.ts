import { fstatSync, readSync } from 'node:fs';
import { findDamagedPage } from './find-damaged-page.ts';
import { type Meta, metaBytes, readMeta } from './lmdb-page.ts';
import type { Reading } from './snapshot.ts';

/** A sound file may end before its last page number, by at most this many pages. */
const maxMissing = 2 ** 20;

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
export function endsEarly(descriptor: number): boolean {
  const meta = newestMeta(descriptor);
  return meta !== undefined && Math.floor(fstatSync(descriptor).size / meta.pageSize) <= meta.lastPage;
}

/** The meta page of the last commit; `undefined` unless both meta pages are valid. */
function newestMeta(descriptor: number): Meta | undefined {
  const first = readMeta(read(descriptor, 0, metaBytes));
  const second = first && readMeta(read(descriptor, first.pageSize, metaBytes));
  if (first === undefined || second?.pageSize !== first.pageSize) return undefined;
  return second.transaction > first.transaction ? second : first;
}

/** Up to `length` bytes from `position`: fewer at the end of the file. */
function read(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
}
