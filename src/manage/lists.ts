import { ApiError } from '../errors.ts';
import { parseQuery } from '../http/query.ts';

/** One page of a list; `nextCursor` is `null` on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Which page of a list is asked for: `limit` items whose places come after `after`, or the first of all. */
export interface PageRequest<Place> {
  readonly limit: number;
  readonly after: Place | undefined;
}

const usualLimit = 50;
const greatestLimit = 200;

/**
 * Cuts the page out of a list that a query asks for with `limit` and `cursor`. Items are ordered by their place,
 * and a cursor holds the place of the last item shown: whatever comes or goes in between, an item that is there
 * all the time is shown exactly once.
 * @param placeOf an item's place among all items, from 0; no two have the same, and it never changes
 * @throws {ApiError} `invalid_query`
 */
export function pageOf<T>(items: Iterable<T>, query: string, placeOf: (item: T) => number): Page<T> {
  return cutPage(items, readPage(query, readCursor), placeOf);
}

/** Reads which page is asked for of a list whose places are names. @throws {ApiError} `invalid_query` */
export function readNamePage(query: string): PageRequest<string> {
  return readPage(query, (cursor) => placeIn(cursor, /^.+$/s));
}

/** Cuts the page that is asked for out of a list: see `pageOf`. */
export function cutPage<T, Place extends number | string>(
  items: Iterable<T>,
  { limit, after }: PageRequest<Place>,
  placeOf: (item: T) => Place,
): Page<T> {
  const rest = [...items].filter((item) => after === undefined || placeOf(item) > after);
  rest.sort((a, b) => Number(placeOf(a) > placeOf(b)) - Number(placeOf(a) < placeOf(b)));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = last !== undefined && rest.length > limit ? writeCursor(placeOf(last)) : null;
  return { items: page, nextCursor };
}

/** What a list is to be narrowed to: items of which `name` is true, or of which it is not. @throws {ApiError} `invalid_query` */
export function readFilter(query: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  if (text !== 'true' && text !== 'false')
    throw new ApiError('invalid_query', `${name} must be true or false`);
  return text === 'true';
}

function readPage<Place>(query: string, readPlace: (cursor: string) => Place): PageRequest<Place> {
  const parameters = parseQuery(query);
  const cursor = parameters.get('cursor');
  const limit = readLimit(parameters.get('limit'));
  return { limit, after: cursor === undefined ? undefined : readPlace(cursor) };
}

/** How many items a page may have. @throws {ApiError} `invalid_query` */
export function readLimit(text: string | undefined): number {
  if (text === undefined) return usualLimit;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > greatestLimit) {
    throw new ApiError('invalid_query', `limit must be an integer from 1 to ${greatestLimit}`);
  }
  return limit;
}

const mark = 'after:';

/** The cursor of a page whose last item has this place. */
export function writeCursor(place: number | string): string {
  return Buffer.from(`${mark}${place}`).toString('base64url');
}

/** The place in a cursor. @throws {ApiError} `invalid_query` */
export function readCursor(text: string): number {
  return Number(placeIn(text, /^\d{1,16}$/));
}

function placeIn(cursor: string, pattern: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString().slice(mark.length);
  if (pattern.test(place) && writeCursor(place) === cursor) return place;
  throw new ApiError('invalid_query', 'cursor must be the nextCursor of a page of this list');
}
