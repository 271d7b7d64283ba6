import Type from 'typebox';
import { Refusal } from '../contract/errors.ts';
import type { Page } from '../contract/shapes/fields.ts';
import type { QueryOf } from './query-reader.ts';

/** Request for a page of a list: `limit` items after the position `after`, or from the start of the list. */
export interface PageRequest<Position> {
  readonly limit: number;
  readonly after: Position | undefined;
}

export const maxLimit = 200;

export const paging = {
  limit: Type.Integer({
    component: 'Limit',
    description: 'Maximum number of items in the page.',
    minimum: 1,
    maximum: maxLimit,
    default: 50,
  }),
  cursor: Type.Optional(
    Type.String({
      component: 'Cursor',
      description: 'The `nextCursor` of the previous page. Omit it for the first page.',
    }),
  ),
};

type PageQuery = QueryOf<typeof paging>;

/**
 * Returns a page of items in the order of creation. The cursor is the position of the last item on a page. Items that
 * exist during all requests are therefore listed exactly once.
 * @throws {Refusal} `invalid_query`
 */
export function createPage<T extends { readonly number: number }, Shown>(
  items: Iterable<T>,
  { limit, cursor }: PageQuery,
  show: (item: T) => Shown,
): Page<Shown> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const page = cutPage(items, { limit, after }, ({ number }) => number);
  return { ...page, items: page.items.map(show) };
}

/** Returns the page request for a list whose positions are names. @throws {Refusal} `invalid_query` */
export function namePage({ limit, cursor }: PageQuery): PageRequest<string> {
  return { limit, after: cursor === undefined ? undefined : positionIn(cursor, /^.+$/s) };
}

/** @param getPosition returns the unique and constant position of an item */
export function cutPage<T, Position extends number | string>(
  items: Iterable<T>,
  { limit, after }: PageRequest<Position>,
  getPosition: (item: T) => Position,
): Page<T> {
  const rest = [...items].filter((item) => after === undefined || getPosition(item) > after);
  rest.sort((a, b) => (getPosition(a) < getPosition(b) ? -1 : 1));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = last !== undefined && rest.length > limit ? writeCursor(getPosition(last)) : null;
  return { items: page, nextCursor };
}

const prefix = 'after:';

export function writeCursor(position: number | string): string {
  return Buffer.from(`${prefix}${position}`).toString('base64url');
}

/** @throws {Refusal} `invalid_query` */
export function readCursor(text: string): number {
  return Number(positionIn(text, /^\d{1,16}$/));
}

function positionIn(cursor: string, pattern: RegExp): string {
  const position = Buffer.from(cursor, 'base64url').toString().slice(prefix.length);
  if (pattern.test(position) && writeCursor(position) === cursor) return position;
  throw new Refusal('invalid_query', 'cursor must be the nextCursor of a page of this list');
}
