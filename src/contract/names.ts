const longest = 256;

/** Name under which all features, variants, metrics or senders over a limit are counted together. */
export const surplusName = '__other__';

/**
 * True if a text is a valid name: 1–256 UTF-8 bytes of well-formed Unicode without control characters (C0, DEL and C1).
 * The function is called for each packet, so plain ASCII takes only one loop.
 */
export function isName(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > longest) return false;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7e) return isWideName(text, at);
    if (unit < 0x20) return false;
  }
  return true;
}

/** Continues `isName` from `start`. The text before `start` is printable ASCII. */
function isWideName(text: string, start: number): boolean {
  let bytes = start;
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return false;
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else {
      const low = text.charCodeAt(++at);
      if (unit > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) return false;
      bytes += 4;
    }
  }
  return bytes <= longest;
}

/** Letters, marks and digits of any script, and printable ASCII, but no directional characters. */
const characters = /^[\p{L}\p{M}\p{N}!-?A-~]+@[\p{L}\p{M}\p{N}!-?A-~]+$/u;

/**
 * True if a text can be the e-mail address of a user. The mail server decides the rest: RFC 5321 §4.1.2 allows nearly
 * any local part. Addresses of two users must not look alike. Compatibility characters, such as full-width letters, are
 * therefore rejected, and so are Latin letters together with letters of another script, such as a Cyrillic `а`.
 */
export function isEmail(text: string): boolean {
  if (!isName(text) || !characters.test(text)) return false;
  if (/\p{Default_Ignorable_Code_Point}/u.test(text)) return false; // Rejects invisible characters.
  if (text !== text.normalize('NFKC')) return false; // Rejects look-alikes such as the Kelvin sign.
  return !/\p{Script=Latin}/u.test(text) || !/(?!\p{Script=Latin})\p{L}/u.test(text);
}
