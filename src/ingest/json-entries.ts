import { maxEntries, tooManyEntries } from '../grpc/entry-limit.ts';

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * Counts the objects and lists of a JSON text before any is built. A few bytes of text can describe empty objects that take
 * `JSON.parse` a hundred times the memory.
 * @throws {ApiError} `body_too_large` if there are more than its size allows
 */
export function checkJsonEntries(text: Uint8Array): void {
  let left = maxEntries('json', text.length);
  if (text.length <= left) return;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]!;
    if (byte === quote) at = endOfString(text, at);
    else if (byte === openBrace || byte === openBracket) {
      left -= 1;
      if (left < 0) throw tooManyEntries;
    }
  }
}

function endOfString(text: Uint8Array, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === quote) return at;
    if (text[at] === backslash) at += 1;
  }
  return text.length;
}
