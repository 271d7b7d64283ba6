import { ApiError } from '../errors.ts';
import { percentDecode } from './percent.ts';

/**
 * Reads a query, or a form body, as `application/x-www-form-urlencoded`: `+` is a space, a name without `=` has an
 * empty value, and of a name that comes twice the last one wins.
 * @param text without the leading `?`
 * @throws {ApiError} `invalid_query` when an escape is malformed or not UTF-8
 */
export function parseQuery(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    parameters.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return parameters;
}

function decode(encoded: string): string {
  const text = percentDecode(encoded.replaceAll('+', ' '));
  if (text === undefined) throw new ApiError('invalid_query', 'A parameter is not percent-encoded UTF-8');
  return text;
}
