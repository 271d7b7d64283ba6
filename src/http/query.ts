import { ApiError } from '../contract/errors.ts';
import { parsePairs } from './form-text.ts';

/**
 * Reads a query; of a name that comes twice the last value counts.
 * @param text without the leading `?`
 * @throws {ApiError} `invalid_query` when an escape is malformed or not UTF-8
 */
export function parseQuery(text: string): Map<string, string> {
  return new Map(queryPairs(text));
}

/**
 * Reads a query whose parameters may be repeated.
 * @param text without the leading `?`
 * @throws {ApiError} `invalid_query` when an escape is malformed or not UTF-8
 */
export function queryPairs(text: string): readonly (readonly [name: string, value: string])[] {
  const pairs = parsePairs(text);
  if (pairs === undefined) throw new ApiError('invalid_query', 'A parameter is not percent-encoded UTF-8');
  return pairs;
}
