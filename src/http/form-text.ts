import { percentDecode } from './percent.ts';

/**
 * The parameters of a query or form in `application/x-www-form-urlencoded`, in their order. A `+` is a space, and a name
 * without `=` has an empty value.
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

/** Decodes `application/x-www-form-urlencoded`; `undefined` if it is malformed. */
export function decodeFormText(encoded: string): string | undefined {
  return percentDecode(encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded);
}
