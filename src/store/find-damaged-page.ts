import {
  contentOf,
  firstPage,
  listsOf,
  noPage,
  pagesOfList,
  pagesOfValue,
  type Reference,
  referencesOf,
} from './lmdb-page.ts';
import type { Reading } from './snapshot.ts';

/** The pages of an LMDB file that is not being written to. */
export interface Pages {
  /** How many there are. */
  readonly count: number;
  /** How many numbers there are for pages: a file may end before the last, when nothing is on those that are not there. */
  readonly end: number;
  /** Some pages, one after the other. */
  read(first: number, count: number): Buffer;
}

/** Where the trees of a file begin. */
export interface Roots {
  /** Of the tree that holds the free list. */
  readonly free: number;
  /** Of the tree that holds the tables, which are trees too. */
  readonly main: number;
}

interface Step extends Reference {
  readonly ofFreeList: boolean;
}

/**
 * Looks whether everything that the trees of a file refer to is on its pages, is what it should be, and is nothing else
 * besides. It pauses with each page.
 * @returns the number of a page that is damaged; `undefined` when all are in order
 */
export function* findDamagedPage(pages: Pages, roots: Roots): Reading<number | undefined> {
  const taken = new Uint8Array(Math.ceil(pages.end / 8));
  const take = (page: number) => {
    const bit = 1 << (page % 8);
    const isFree = page >= firstPage && page < pages.end && (taken[page >>> 3]! & bit) === 0;
    taken[page >>> 3]! |= bit;
    return isFree;
  };
  const begin = { bytes: undefined };
  const waiting: Step[] = [
    { ...begin, page: roots.main, ofFreeList: false },
    { ...begin, page: roots.free, ofFreeList: true },
  ];
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    if (step.page === noPage) continue;
    const isWhole = step.bytes === undefined ? follow(pages, step, take, waiting) : lookAt(pages, step, take);
    if (!isWhole) return step.page;
    yield;
  }
  return undefined;
}

type Take = (page: number) => boolean;

/** Checks a page of a tree, and queues what it refers to. */
function follow(pages: Pages, { page, ofFreeList }: Step, take: Take, waiting: Step[]): boolean {
  if (page >= pages.count || !take(page)) return false;
  const bytes = pages.read(page, 1);
  const references = referencesOf(bytes, page);
  if (references === undefined) return false;
  for (const reference of references) waiting.push({ ...reference, ofFreeList });
  if (!ofFreeList) return true;
  const lists = listsOf(bytes, page);
  return lists?.every((list) => pagesOfList(list, pages.end)?.every(take)) ?? false;
}

/** Checks the pages of a long value. */
function lookAt(pages: Pages, { page, bytes = 0, ofFreeList }: Step, take: Take): boolean {
  if (page >= pages.count) return false;
  const count = pagesOfValue(pages.read(page, 1), page, bytes);
  if (count === 0 || page + count > pages.count) return false;
  for (let each = page; each < page + count; each += 1) if (!take(each)) return false;
  if (!ofFreeList) return true;
  return pagesOfList(contentOf(pages.read(page, count), bytes), pages.end)?.every(take) ?? false;
}
