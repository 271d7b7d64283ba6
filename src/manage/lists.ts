import { Refusal } from '../errors.ts';
import { parseQuery } from '../http/query.ts';

/** One page of a list; `nextCursor` is `null` on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

const usualLimit = 50;
const greatestLimit = 200;

/**
 * Cuts the page out of a list that a query asks for with `limit` and `cursor`. Items are ordered by their place,
 * and a cursor holds the place of the last item shown: whatever comes or goes in between, an item that is there
 * all the time is shown exactly once.
 * @param placeOf an item's place among all items, from 0; no two have the same, and it never changes
 * @throws {Refusal} `invalid_query`
 */
export function pageOf<T>(items: Iterable<T>, query: string, placeOf: (item: T) => number): Page<T> {
  const parameters = parseQuery(query);
  const limit = readLimit(parameters.get('limit'));
  const cursor = parameters.get('cursor');
  const after = cursor === undefined ? -1 : readCursor(cursor);
  const rest = [...items].filter((item) => placeOf(item) > after).sort((a, b) => placeOf(a) - placeOf(b));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = last !== undefined && rest.length > limit ? writeCursor(placeOf(last)) : null;
  return { items: page, nextCursor };
}

/** How many items a page may have. @throws {Refusal} `invalid_query` */
export function readLimit(text: string | undefined): number {
  if (text === undefined) return usualLimit;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > greatestLimit) {
    throw new Refusal('invalid_query', `limit must be an integer from 1 to ${greatestLimit}`);
  }
  return limit;
}

/** The cursor of a page whose last item has this place. */
export function writeCursor(place: number): string {
  return Buffer.from(`after:${place}`).toString('base64url');
}

/** The place in a cursor. @throws {Refusal} `invalid_query` */
export function readCursor(text: string): number {
  const place = /^after:(\d{1,16})$/.exec(Buffer.from(text, 'base64url').toString('latin1'))?.[1];
  if (place === undefined)
    throw new Refusal('invalid_query', 'cursor must be the nextCursor of a page of this list');
  return Number(place);
}
