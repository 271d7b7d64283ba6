import { ApiError } from '../errors.ts';

/** RFC 3339 §5.6: date and time with `Z` or an offset. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** The time that a query's parameter names, Unix ms; `undefined` when it is not there. @throws {ApiError} `invalid_query` */
export function readTime(query: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const time = rfc3339.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new ApiError('invalid_query', `${name} must be an RFC 3339 time, such as 2026-01-31T12:00:00Z`);
  }
  if (time < 0) throw new ApiError('invalid_query', `${name} must not be before 1970-01-01T00:00:00Z`);
  return time;
}
