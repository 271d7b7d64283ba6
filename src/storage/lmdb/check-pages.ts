import { fstatSync, readSync } from 'node:fs';
import { findDamagedPage, type Pages } from './find-damaged-page.ts';
import { type Meta, metaBytes, readMeta } from './lmdb-page.ts';
import type { Reading } from './snapshot.ts';

/** Maximum number of pages by which a sound file may end before its last page number. */
const maxMissing = 2 ** 20;

/**
 * Checks all pages of a data file and pauses after each. The file must not change meanwhile.
 * @returns the fault; `undefined` if the file is sound
 */
export function* checkPages(descriptor: number): Reading<string | undefined> {
  if (fstatSync(descriptor).size === 0) return 'it is empty';
  const meta = newestMeta(descriptor);
  if (meta === undefined)
    return 'it is damaged, or not from this version: it does not start with the pages of a store';
  return yield* checkPagesOf(descriptor, meta);
}

/**
 * Checks all pages of one state of a data file and pauses after each. A reader of that state must keep them from being reused.
 * @param used receives consecutive pages in use
 * @returns the fault; `undefined` if they are sound
 */
export function* checkPagesOf(
  descriptor: number,
  { pageSize, lastPage, roots }: Meta,
  used: Pages['used'] = () => {},
): Reading<string | undefined> {
  const { size } = fstatSync(descriptor);
  const count = Math.floor(size / pageSize);
  if (lastPage > count + maxMissing) return `it is damaged, or cut off after ${size} bytes`;
  const pages = {
    pageSize,
    count,
    end: Math.max(lastPage + 1, count),
    read: (first: number, into: Buffer) => read(descriptor, first * pageSize, into),
    used,
  };
  const damaged = yield* findDamagedPage(pages, roots);
  if (damaged === undefined) return undefined;
  return count > lastPage ? `it is damaged: page ${damaged}` : `it is truncated after ${size} bytes`;
}

/** Whether a file is shorter than its last page number requires. */
export function endsEarly(descriptor: number): boolean {
  const meta = newestMeta(descriptor);
  return meta !== undefined && Math.floor(fstatSync(descriptor).size / meta.pageSize) <= meta.lastPage;
}

/** The meta page of the last commit; `undefined` unless both meta pages are valid. */
export function newestMeta(descriptor: number): Meta | undefined {
  return newestOf((at) => read(descriptor, at, Buffer.alloc(metaBytes)));
}

/** As `newestMeta`, from the first two pages of a file. */
export function newestMetaIn(metaPages: Buffer): Meta | undefined {
  return newestOf((at) => metaPages.subarray(at, at + metaBytes));
}

function newestOf(bytesAt: (position: number) => Buffer): Meta | undefined {
  const first = readMeta(bytesAt(0));
  const second = first && readMeta(bytesAt(first.pageSize));
  if (first === undefined || second?.pageSize !== first.pageSize) return undefined;
  return second.transaction > first.transaction ? second : first;
}

/** Reads from `position` into `buffer`; less at the end of the file. */
function read(descriptor: number, position: number, buffer: Buffer): Buffer {
  const bytes = readSync(descriptor, buffer, 0, buffer.length, position);
  return bytes === buffer.length ? buffer : buffer.subarray(0, bytes);
}
