/**
 * The format of a page in LMDB's file: version 1, 64 bits, little-endian. `native/check-pages.c` has the same rules for
 * the pages of a file that is open.
 */
const header = { number: 0, kind: 10, lower: 12, upper: 14, count: 12, bytes: 16 };
const pageKind = { branch: 1, leaf: 2, overflow: 4 };
const node = { bytes: 0, kind: 4, keyBytes: 6, key: 8 };
const nodeKind = { plain: 0, overflow: 1, tree: 2 };
const tree = { bytes: 48, root: 40 };
/** The keys of the free list are transaction numbers. */
const listKeyBytes = 8;

/** Pages before this one are meta pages and belong to no tree. */
export const firstPage = 2;

/** The root of an empty tree. */
export const noPage = 2 ** 64;

/** A reference from a page: to a page of its tree, to the root of a subtree, or to the first page of a long value. */
export interface Reference {
  readonly page: number;
  /** Length of the long value; `undefined` for a page of a tree. */
  readonly bytes: number | undefined;
}

/** Offsets in a meta page. The first two pages of a file are meta pages; commits write them in turn. */
const metaPage = {
  magic: 16,
  version: 20,
  pageSize: 40,
  freeRoot: 80,
  mainRoot: 128,
  lastPage: 136,
  transaction: 144,
};
export const metaBytes = 152;
const magic = 0xbeefc0de;
const dataVersion = 1;

/** Whether pages of a store can have a size: LMDB uses the system's page size. */
export function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && Number.isInteger(Math.log2(bytes));
}

export interface Roots {
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
export function readMeta(page: Buffer): Meta | undefined {
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
export function referencesOf(page: Buffer, number: number): readonly Reference[] | undefined {
  const references: Reference[] = [];
  const nodes = nodesOf(page, number);
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

/** The free list's records on a sound page of its tree; `undefined` if they are damaged. */
export function listsOf(page: Buffer, number: number): readonly Buffer[] | undefined {
  const lists: Buffer[] = [];
  if (isBranch(page)) return lists;
  for (const at of nodesOf(page, number) ?? []) {
    if (page.readUInt16LE(at + node.keyBytes) !== listKeyBytes) return undefined;
    const value = at + node.key + listKeyBytes;
    if (page.readUInt16LE(at + node.kind) === nodeKind.plain)
      lists.push(page.subarray(value, value + page.readUInt32LE(at + node.bytes)));
  }
  return lists;
}

/** The pages in a record of the free list, which must be in descending order; `undefined` if it is damaged. */
export function pagesOfList(list: Buffer, pages: number): readonly number[] | undefined {
  if (list.length < 8) return undefined;
  const count = readNumber(list, 0);
  if (count > list.length / 8 - 1) return undefined;
  const numbers = Array.from({ length: count }, (_, index) => readNumber(list, (index + 1) * 8));
  const inOrder = numbers.every(
    (number, index) => number >= firstPage && number < (numbers[index - 1] ?? pages),
  );
  return inOrder ? numbers : undefined;
}

/** The number of pages of a long value, according to its first page; 0 if that page does not match a value of this length. */
export function pagesOfValue(page: Buffer, number: number, bytes: number): number {
  if (page.length < header.bytes || readNumber(page, header.number) !== number) return 0;
  const count = page.readUInt32LE(header.count);
  const isValue = page.readUInt16LE(header.kind) === pageKind.overflow;
  return isValue && header.bytes + bytes <= count * page.length ? count : 0;
}

/** The long value on consecutive pages. */
export function contentOf(pages: Buffer, bytes: number): Buffer {
  return pages.subarray(header.bytes, header.bytes + bytes);
}

/** The offsets of the nodes of a tree page; `undefined` if the page is damaged. */
function nodesOf(page: Buffer, number: number): readonly number[] | undefined {
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

/** A 64-bit number, exact for the size of any real file. */
function readNumber(page: Buffer, at: number): number {
  return Number(page.readBigUInt64LE(at));
}
