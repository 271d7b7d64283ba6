import { fstatSync, readSync } from 'node:fs';
import type { Reading } from './snapshot.ts';

/**
 * The format of a page in LMDB's file: version 1, 64 bits, little-endian. `native/check-pages.c` checks the pages of an
 * open file by the same rules.
 */
const header = { number: 0, kind: 10, lower: 12, upper: 14, count: 12, bytes: 16 };
const pageKind = { branch: 1, leaf: 2, overflow: 4 };
const node = { bytes: 0, kind: 4, keyBytes: 6, key: 8 };
const nodeKind = { plain: 0, overflow: 1, tree: 2 };
const tree = { bytes: 48, root: 40 };
/** The keys of the free list are transaction numbers. */
const listKeyBytes = 8;

/** Pages with lower numbers are meta pages, which do not belong to a tree. */
const firstPage = 2;

/** The root of an empty tree. */
const noPage = 2 ** 64;

/** A reference from a page to a page of its tree, to the root of a subtree, or to the first page of a long value. */
interface Reference {
  readonly page: number;
  /** Length of the long value; `undefined` for a page of a tree. */
  readonly bytes: number | undefined;
}

/** Offsets in a meta page. The first two pages of a file are meta pages; commits write them alternately. */
const metaPage = { magic: 16, version: 20, pageSize: 40, freeRoot: 80, mainRoot: 128, lastPage: 136, transaction: 144 };
const metaBytes = 152;
const magic = 0xbeefc0de;
const dataVersion = 1;

/** True if a page can have this size. LMDB uses the page size of the system. */
export function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && Number.isInteger(Math.log2(bytes));
}

interface Roots {
  /** The tree of the free list. */
  readonly free: number;
  /** The tree of tables, which are trees themselves. */
  readonly main: number;
}

export interface Meta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly roots: Roots;
}

/** Reads the first `metaBytes` of a meta page; `undefined` if they are not valid. */
function readMeta(page: Buffer): Meta | undefined {
  if (page.length < metaBytes || page.readUInt32LE(metaPage.magic) !== magic) return undefined;
  const pageSize = page.readUInt32LE(metaPage.pageSize);
  const lastPage = readNumber(page, metaPage.lastPage);
  const isKnown = page.readUInt32LE(metaPage.version) === dataVersion;
  if (!isKnown || !isPageSize(pageSize) || !Number.isSafeInteger(lastPage)) return undefined;
  return {
    pageSize,
    lastPage,
    transaction: readNumber(page, metaPage.transaction),
    roots: { free: readNumber(page, metaPage.freeRoot), main: readNumber(page, metaPage.mainRoot) },
  };
}

/** The references of a tree page; `undefined` if the page is damaged. */
function readReferences(page: Buffer, number: number): readonly Reference[] | undefined {
  const references: Reference[] = [];
  const nodes = readNodes(page, number);
  for (const at of nodes ?? []) {
    const value = at + node.key + page.readUInt16LE(at + node.keyBytes);
    const kind = page.readUInt16LE(at + node.kind);
    const bytes = page.readUInt32LE(at + node.bytes);
    if (value > page.length) return undefined;
    if (isBranch(page)) references.push({ page: page.readUIntLE(at, 6), bytes: undefined });
    else if (kind === nodeKind.overflow && value + 8 <= page.length)
      references.push({ page: readNumber(page, value), bytes });
    else if (kind === nodeKind.tree && bytes === tree.bytes && value + bytes <= page.length)
      references.push({ page: readNumber(page, value + tree.root), bytes: undefined });
    else if (kind !== nodeKind.plain || value + bytes > page.length) return undefined;
  }
  return nodes && references;
}

/** The records of the free list on an undamaged page of its tree; `undefined` if the records are damaged. */
function readLists(page: Buffer, number: number): readonly Buffer[] | undefined {
  const lists: Buffer[] = [];
  if (isBranch(page)) return lists;
  for (const at of readNodes(page, number) ?? []) {
    if (page.readUInt16LE(at + node.keyBytes) !== listKeyBytes) return undefined;
    const value = at + node.key + listKeyBytes;
    if (page.readUInt16LE(at + node.kind) === nodeKind.plain)
      lists.push(page.subarray(value, value + page.readUInt32LE(at + node.bytes)));
  }
  return lists;
}

/** The pages in a record of the free list; `undefined` if they are not in descending order or the record is damaged. */
function pagesOfList(list: Buffer, pages: number): readonly number[] | undefined {
  if (list.length < 8) return undefined;
  const count = readNumber(list, 0);
  if (count > list.length / 8 - 1) return undefined;
  const numbers = Array.from({ length: count }, (_, index) => readNumber(list, (index + 1) * 8));
  const inOrder = numbers.every((number, index) => number >= firstPage && number < (numbers[index - 1] ?? pages));
  return inOrder ? numbers : undefined;
}

/** Number of pages of a long value, according to its first page; 0 if that page has a value of another length. */
function pagesOfValue(page: Buffer, number: number, bytes: number): number {
  if (page.length < header.bytes || readNumber(page, header.number) !== number) return 0;
  const count = page.readUInt32LE(header.count);
  const isValue = page.readUInt16LE(header.kind) === pageKind.overflow;
  return isValue && header.bytes + bytes <= count * page.length ? count : 0;
}

/** Returns the long value that is stored on consecutive pages. */
function sliceContent(pages: Buffer, bytes: number): Buffer {
  return pages.subarray(header.bytes, header.bytes + bytes);
}

/** The offsets of the nodes of a tree page; `undefined` if the page is damaged. */
function readNodes(page: Buffer, number: number): readonly number[] | undefined {
  if (page.length < header.bytes || readNumber(page, header.number) !== number) return undefined;
  const kind = page.readUInt16LE(header.kind);
  if (kind !== pageKind.branch && kind !== pageKind.leaf) return undefined;
  const lower = page.readUInt16LE(header.lower);
  const upper = page.readUInt16LE(header.upper);
  const least = header.bytes + (kind === pageKind.branch ? 4 : 2);
  if (lower < least || lower > upper || upper > page.length || lower % 2 !== 0) return undefined;
  const nodes: number[] = [];
  for (let at = header.bytes; at < lower; at += 2) nodes.push(page.readUInt16LE(at));
  return nodes.every((at) => at >= upper && at + node.key <= page.length) ? nodes : undefined;
}

function isBranch(page: Buffer): boolean {
  return page.readUInt16LE(header.kind) === pageKind.branch;
}

/** Reads a 64-bit number. The result is exact up to 2⁵³, which is enough for every file. */
function readNumber(page: Buffer, at: number): number {
  return Number(page.readBigUInt64LE(at));
}

/** Maximum number of unused pages that can be missing from the end of an undamaged file. */
const maxMissing = 2 ** 20;

/** Checks the last state of a file, as `checkStatePages` does. The file must not change during the check. */
export function* checkPages(descriptor: number): Reading<string | undefined> {
  if (fstatSync(descriptor).size === 0) return 'it is empty';
  const meta = newestMeta(descriptor);
  if (meta === undefined) return 'it is damaged, or not from this version: it does not start with the pages of a store';
  return yield* checkStatePages(descriptor, meta);
}

/**
 * Checks all pages of one state of a data file, and pauses after each page. A reader of this state must be open during
 * the check, so that the pages of the state are not reused.
 * @param used receives consecutive pages in use
 * @returns the fault; `undefined` if all pages are sound
 */
export function* checkStatePages(
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
  return findNewest((at) => read(descriptor, at, Buffer.alloc(metaBytes)));
}

export function newestMetaIn(metaPages: Buffer): Meta | undefined {
  return findNewest((at) => metaPages.subarray(at, at + metaBytes));
}

function findNewest(bytesAt: (position: number) => Buffer): Meta | undefined {
  const first = readMeta(bytesAt(0));
  const second = first && readMeta(bytesAt(first.pageSize));
  if (first === undefined || second?.pageSize !== first.pageSize) return undefined;
  return second.transaction > first.transaction ? second : first;
}

/** Reads from `position` into `buffer`. Returns less than the length of the buffer at the end of the file. */
function read(descriptor: number, position: number, buffer: Buffer): Buffer {
  const bytes = readSync(descriptor, buffer, 0, buffer.length, position);
  return bytes === buffer.length ? buffer : buffer.subarray(0, bytes);
}

/*
 * LMDB cannot check a whole file: native/check-pages.c checks each page when LMDB takes the page from an open file.
 * Such a check cannot find pages with two uses, or damage in unread pages. LMDB would read a truncated file through the
 * memory map, which ends the process (SIGBUS). A backup also needs a list of the used pages, and a check that pauses.
 */

interface Pages {
  readonly pageSize: number;
  readonly count: number;
  /** One more than the largest page number in use. An undamaged file can end earlier if its last pages are unused. */
  readonly end: number;
  /** Reads consecutive pages into a buffer. @returns the bytes of these pages that are in the file */
  read(first: number, into: Buffer): Buffer;
  /** Receives consecutive pages in use: pages of the trees and of long values. */
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
    const references = readReferences(bytes, page);
    if (references === undefined) return page;
    this.#pages.used(page, 1);
    for (const reference of references) if (!this.#follow(reference)) return reference.page;
    if (!this.#ofFreeList) return undefined;
    const isSound = readLists(bytes, page)?.every((list) => this.#takeList(list)) ?? false;
    return isSound ? undefined : page;
  }

  /** Follows a reference. @returns false if the reference is not valid */
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

  /** Takes a long list of free pages. A page occurs in the list only once, which limits the size of the list. */
  #takeLongList(page: number, bytes: number): boolean {
    const { pageSize, end, read } = this.#pages;
    if (bytes > 8 * (end + 1)) return false;
    return this.#takeList(sliceContent(read(page, Buffer.alloc(pageSize + bytes)), bytes));
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
