import { replaceActive } from '../contract/active-characters.ts';

/** A text of a server or a user, safe to print to a terminal, on one line. */
export function printable(text: string): string {
  return replaceActive(text, () => '\ufffd');
}
