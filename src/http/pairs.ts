import { Refusal } from '../contract/errors.ts';
import type { Request } from './types.ts';

/**
 * Parses a query or form (`application/x-www-form-urlencoded`) to pairs, in order. Without `=`, the value is empty.
 * @param text without the leading `?`
 * @returns `undefined` if an escape is malformed or not UTF-8
 */
export function parsePairs(text: string): readonly (readonly [name: string, value: string])[] | undefined {
  const pairs: [string, string][] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodeFormText(pair.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    pairs.push([name, value]);
  }
  return pairs;
}

/** @returns `undefined` if the text is malformed */
export function decodeFormText(encoded: string): string | undefined {
  return percentDecode(encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded);
}

/** @returns `undefined` if an escape is malformed or the bytes are not UTF-8 (RFC 3986 §2.1) */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a query. The last value of a repeated name wins.
 * @param text without the leading `?`
 * @throws {Refusal} `invalid_query` if an escape is malformed or not UTF-8
 */
export function parseQuery(text: string): Map<string, string> {
  return new Map(queryPairs(text));
}

export function queryPairs(text: string): readonly (readonly [name: string, value: string])[] {
  const pairs = parsePairs(text);
  if (pairs === undefined) throw new Refusal('invalid_query', 'A parameter is not percent-encoded UTF-8');
  return pairs;
}

/** Yields the cookies of a request, in order (RFC 6265 §4.2). Several cookies can have the same name. */
export function* readCookies(request: Pick<Request, 'header'>): Generator<readonly [name: string, value: string]> {
  for (const pair of (request.header('cookie') ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals > 0) yield [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
  }
}
