import { isName } from './names.ts';

/** Letters, marks and digits of any script, and printable ASCII. Directional characters are neither. */
const characters = /^[\p{L}\p{M}\p{N}!-?A-~]+@[\p{L}\p{M}\p{N}!-?A-~]+$/u;

/**
 * True if a text can be the e-mail address of a user. The mail server decides the rest: RFC 5321 §4.1.2 allows nearly any local
 * part. An address must not look like that of another user. So compatibility characters such as full-width letters are refused, and
 * Latin letters next to those of another script, such as a Cyrillic `а`.
 */
export function isEmail(text: string): boolean {
  if (!isName(text) || !characters.test(text)) return false;
  if (/\p{Default_Ignorable_Code_Point}/u.test(text)) return false; // Some marks are invisible.
  if (text !== text.normalize('NFKC')) return false; // In lower case, the Kelvin sign equals a k.
  return !/\p{Script=Latin}/u.test(text) || !/(?!\p{Script=Latin})\p{L}/u.test(text);
}
