/*
 * Why LMDB itself cannot do this: native/check-pages.c checks a page when LMDB takes it from an open file. It does not walk the
 * trees, so it finds neither a page with two uses nor one that nobody has asked for yet. It reads through the memory map, so a
 * file that was cut off would end the process (SIGBUS). And a backup needs the list of the pages in use, of a state that a
 * reader holds, with pauses between the pages.
 */
import {
  contentOf,
  firstPage,
  listsOf,
  noPage,
  pagesOfList,
  pagesOfValue,
  type Reference,
  type Roots,
  referencesOf,
} from './lmdb-page.ts';
import { PageSet } from './page-set.ts';
import type { Reading } from './snapshot.ts';

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

/** Bytes per read. */
const runBytes = 2 ** 20;

/**
 * Walks the trees of a file. Every referenced page must be in the file, be well-formed, and have one use only. Pauses at each
 * page.
 * @returns the number of a damaged page; `undefined` if all pages are sound
 */
export function* findDamagedPage(pages: Pages, roots: Roots): Reading<number | undefined> {
  const taken = new PageSet(pages.end);
  const ofFreeList = yield* new TreeWalk(pages, taken, true).walk(roots.free);
  return ofFreeList ?? (yield* new TreeWalk(pages, taken, false).walk(roots.main));
}

/** Walks one tree and its subtrees, level by level, so that the pages of a level are read in file order. */
class TreeWalk {
  readonly #pages: Pages;
  readonly #taken: PageSet;
  readonly #ofFreeList: boolean;
  /** The references of this level's pages. */
  #next: PageSet;

  /** @param taken the pages that already have a use */
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

  /** Checks a page of the tree, and follows its references. */
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

  /** Checks the pages of a long value. */
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
