/** Characters that a terminal acts on: control characters, and those that change the direction of text. */
const active = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text of a server or a user, safe to print to a terminal, on one line. */
export function printable(text: string): string {
  return text.replace(active, '\ufffd');
}
