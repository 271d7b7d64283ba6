import { ApiError } from '../contract/errors.ts';
import { parsePairs } from './form-text.ts';

/**
 * Parses a query; the last value of a repeated name wins.
 * @param text without the leading `?`
 * @throws {ApiError} `invalid_query` if an escape is malformed or not UTF-8
 */
export function parseQuery(text: string): Map<string, string> {
  return new Map(queryPairs(text));
}

/**
 * Parses a query whose parameters may repeat.
 * @param text without the leading `?`
 * @throws {ApiError} `invalid_query` if an escape is malformed or not UTF-8
 */
export function queryPairs(text: string): readonly (readonly [name: string, value: string])[] {
  const pairs = parsePairs(text);
  if (pairs === undefined) throw new ApiError('invalid_query', 'A parameter is not percent-encoded UTF-8');
  return pairs;
}
