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
import type { Reading } from './snapshot.ts';

export interface Pages {
  readonly count: number;
  /** How many page numbers are in use. A sound file may end before the last of them, when those pages hold nothing. */
  readonly end: number;
  /** Consecutive pages. */
  read(first: number, count: number): Buffer;
  /** Is told of consecutive pages that hold something: those of the trees, and of long values. */
  used?(first: number, count: number): void;
}

interface Step extends Reference {
  readonly ofFreeList: boolean;
}

/**
 * Walks the trees of a file. Every page that they refer to must be in the file, be well-formed, and have one use only. It
 * pauses at each page.
 * @returns the number of a damaged page; `undefined` when all pages are sound
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
    const isWhole =
      step.bytes === undefined ? checkTreePage(pages, step, take, waiting) : checkValue(pages, step, take);
    if (!isWhole) return step.page;
    yield;
  }
  return undefined;
}

type Take = (page: number) => boolean;

/** Checks a tree page, and queues its references. */
function checkTreePage(pages: Pages, { page, ofFreeList }: Step, take: Take, waiting: Step[]): boolean {
  if (page >= pages.count || !take(page)) return false;
  const bytes = pages.read(page, 1);
  const references = referencesOf(bytes, page);
  if (references === undefined) return false;
  pages.used?.(page, 1);
  for (const reference of references) waiting.push({ ...reference, ofFreeList });
  if (!ofFreeList) return true;
  const lists = listsOf(bytes, page);
  return lists?.every((list) => pagesOfList(list, pages.end)?.every(take)) ?? false;
}

/** Checks the pages of a long value. */
function checkValue(pages: Pages, { page, bytes = 0, ofFreeList }: Step, take: Take): boolean {
  if (page >= pages.count) return false;
  const count = pagesOfValue(pages.read(page, 1), page, bytes);
  if (count === 0 || page + count > pages.count) return false;
  for (let each = page; each < page + count; each += 1) if (!take(each)) return false;
  pages.used?.(page, count);
  if (!ofFreeList) return true;
  return pagesOfList(contentOf(pages.read(page, count), bytes), pages.end)?.every(take) ?? false;
}
