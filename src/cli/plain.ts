/** Control characters, and those that turn the direction of a text: a terminal obeys them. */
const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** A text from elsewhere, so that a terminal does nothing but show it, on one line. */
export function plain(text: string): string {
  return text.replace(obeyed, '\ufffd');
}
