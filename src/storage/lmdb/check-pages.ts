import { fstatSync, readSync } from 'node:fs';
import {
  contentOf,
  firstPage,
  listsOf,
  type Meta,
  metaBytes,
  noPage,
  pagesOfList,
  pagesOfValue,
  type Reference,
  type Roots,
  readMeta,
  referencesOf,
} from './lmdb-page.ts';
import type { Reading } from './snapshot.ts';

/** Maximum number of pages by which a sound file may end before its last page number. */
const maxMissing = 2 ** 20;

/** As `checkPagesOf` for the last state of a file that must not change meanwhile. */
export function* checkPages(descriptor: number): Reading<string | undefined> {
  if (fstatSync(descriptor).size === 0) return 'it is empty';
  const meta = newestMeta(descriptor);
  if (meta === undefined)
    return 'it is damaged, or not from this version: it does not start with the pages of a store';
  return yield* checkPagesOf(descriptor, meta);
}

/**
 * Checks all pages of one state of a data file, and pauses after each. A reader of that state must keep them from being reused.
 * @param used receives consecutive pages in use
 * @returns the fault; `undefined` if there is none
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

export function endsEarly(descriptor: number): boolean {
  const meta = newestMeta(descriptor);
  return meta !== undefined && Math.floor(fstatSync(descriptor).size / meta.pageSize) <= meta.lastPage;
}

/** The meta page of the last commit; `undefined` unless both meta pages are valid. */
export function newestMeta(descriptor: number): Meta | undefined {
  return newestOf((at) => read(descriptor, at, Buffer.alloc(metaBytes)));
}

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

/*
 * Why LMDB itself cannot do this: native/check-pages.c checks a page when LMDB takes it from an open file. It does not walk the
 * trees, so it finds neither a page with two uses nor one that nobody has asked for yet. It reads through the memory map, so a
 * file that was cut off would end the process (SIGBUS). And a backup needs the list of the pages in use, of a state that a
 * reader holds, with pauses between the pages.
 */

export interface Pages {
  readonly pageSize: number;
  readonly count: number;
  /** Number of page numbers in use. A sound file may end before the last of them if those pages are unused. */
  readonly end: number;
  /** Reads consecutive pages into a buffer. @returns the bytes that the file has of them */
  read(first: number, into: Buffer): Buffer;
  /** Receives consecutive pages in use: those of the trees and of long values. */
  used(first: number, count: number): void;
}

const runBytes = 2 ** 20;

/**
 * Walks the trees of a file. Every referenced page must be in the file, be well-formed, and have one use only.
 * @returns the number of a damaged page; `undefined` if all pages are sound
 */
function* findDamagedPage(pages: Pages, roots: Roots): Reading<number | undefined> {
  const taken = new PageSet(pages.end);
  const ofFreeList = yield* new TreeWalk(pages, taken, true).walk(roots.free);
  return ofFreeList ?? (yield* new TreeWalk(pages, taken, false).walk(roots.main));
}

/** Walks one tree and its subtrees, level by level, so that the pages of a level are read in file order. */
class TreeWalk {
  readonly #pages: Pages;
  readonly #taken: PageSet;
  readonly #ofFreeList: boolean;
  #next: PageSet;

  constructor(pages: Pages, taken: PageSet, ofFreeList: boolean) {
    this.#pages = pages;
    this.#taken = taken;
    this.#ofFreeList = ofFreeList;
    this.#next = new PageSet(pages.end);
  }

  *walk(root: number): Reading<number | undefined> {
    if (!this.#follow({ page: root, bytes: undefined })) return root;
    while (this.#next.size > 0) {
      const damaged = yield* this.#walkLevel();
      if (damaged !== undefined) return damaged;
    }
    return undefined;
  }

  *#walkLevel(): Reading<number | undefined> {
    const { pageSize, end, read } = this.#pages;
    const most = Math.max(1, Math.floor(runBytes / pageSize));
    const memory = Buffer.alloc(most * pageSize);
    const level = this.#next;
    this.#next = new PageSet(end);
    for (const { first, count } of level.runs(most)) {
      const run = read(first, memory.subarray(0, count * pageSize));
      for (let at = 0; at < count; at += 1) {
        const damaged = this.#checkPage(first + at, run.subarray(at * pageSize, (at + 1) * pageSize));
        if (damaged !== undefined) return damaged;
        yield;
      }
    }
    return undefined;
  }

  #checkPage(page: number, bytes: Buffer): number | undefined {
    const references = referencesOf(bytes, page);
    if (references === undefined) return page;
    this.#pages.used(page, 1);
    for (const reference of references) if (!this.#follow(reference)) return reference.page;
    if (!this.#ofFreeList) return undefined;
    const isSound = listsOf(bytes, page)?.every((list) => this.#takeList(list)) ?? false;
    return isSound ? undefined : page;
  }

  /** @returns whether the references may be valid */
  #follow({ page, bytes }: Reference): boolean {
    if (page === noPage) return true;
    if (page >= this.#pages.count) return false;
    if (bytes !== undefined) return this.#checkValue(page, bytes);
    if (!this.#take(page)) return false;
    this.#next.add(page, 1);
    return true;
  }

  #checkValue(page: number, bytes: number): boolean {
    const { pageSize, count, read, used } = this.#pages;
    const pages = pagesOfValue(read(page, Buffer.alloc(pageSize)), page, bytes);
    if (pages === 0 || page + pages > count) return false;
    for (let each = page; each < page + pages; each += 1) if (!this.#take(each)) return false;
    used(page, pages);
    return !this.#ofFreeList || this.#takeLongList(page, bytes);
  }

  /** A list contains each page at most once, which bounds its length before memory is allocated. */
  #takeLongList(page: number, bytes: number): boolean {
    const { pageSize, end, read } = this.#pages;
    if (bytes > 8 * (end + 1)) return false;
    return this.#takeList(contentOf(read(page, Buffer.alloc(pageSize + bytes)), bytes));
  }

  #takeList(list: Buffer): boolean {
    return pagesOfList(list, this.#pages.end)?.every((page) => this.#take(page)) ?? false;
  }

  #take(page: number): boolean {
    if (page < firstPage || page >= this.#pages.end || this.#taken.has(page)) return false;
    this.#taken.add(page, 1);
    return true;
  }
}

export class PageSet {
  size = 0;
  readonly #bits: Uint8Array;

  /** @param end one more than the largest number */
  constructor(end: number) {
    this.#bits = new Uint8Array(Math.ceil(end / 8));
  }

  add(first: number, count: number): void {
    for (let page = first; page < first + count; page += 1) this.#bits[page >>> 3]! |= 1 << (page % 8);
    this.size += count;
  }

  has(page: number): boolean {
    return ((this.#bits[page >>> 3] ?? 0) & (1 << (page % 8))) !== 0;
  }

  /** Ranges of consecutive numbers, ascending: at most `limit` numbers each. */
  *runs(limit: number): Generator<{ readonly first: number; readonly count: number }> {
    const end = this.#bits.length * 8;
    for (let first = 0; first < end; ) {
      if (this.#bits[first >>> 3] === 0) {
        first = (Math.floor(first / 8) + 1) * 8;
        continue;
      }
      let count = 0;
      while (count < limit && this.has(first + count)) count += 1;
      if (count > 0) yield { first, count };
      first += Math.max(1, count);
    }
  }
}
