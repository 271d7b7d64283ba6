/** Cached texts, by the hash of their bytes. A later text replaces an earlier one in the same slot. */
const slots = 4096;
const texts: (string | undefined)[] = new Array<string | undefined>(slots).fill(undefined);

/** Longer texts are not cached, so the table stays small. */
const longest = 64;

/**
 * The text whose bytes are `bytes[from … end - 1]`, if they are few and all ASCII. The names in reports recur. Finding one
 * takes a quarter of the time of creating a string, and a string whose hash is already known is faster to look up.
 */
export function recall(bytes: Buffer, from: number, end: number): string | undefined {
  if (end - from > longest) return undefined;
  let hash = end - from;
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!;
    if (byte > 0x7f) return undefined;
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  const slot = (hash ^ (hash >>> 15)) & (slots - 1);
  const known = texts[slot];
  if (known !== undefined && isText(known, bytes, from, end)) return known;
  const text = bytes.toString('latin1', from, end);
  texts[slot] = text;
  return text;
}

function isText(text: string, bytes: Buffer, from: number, end: number): boolean {
  if (text.length !== end - from) return false;
  for (let at = from; at < end; at++) if (text.charCodeAt(at - from) !== bytes[at]) return false;
  return true;
}
