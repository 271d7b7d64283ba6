/** Characters that change the direction of the text around them (Unicode Bidirectional Algorithm, UAX #9). */
const directional = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

const oneDirectional = new RegExp(`[${directional}]`, 'u');
const anyDirectional = new RegExp(`[${directional}]`, 'gu');

/** What a terminal or a page would act on: control characters, separators of lines, and what changes the direction of text. */
const anyActive = new RegExp(`[\\p{Cc}\\u2028\\u2029${directional}]`, 'gu');

/** Whether a text can change how the text around it is read. */
export function changesDirection(text: string): boolean {
  return oneDirectional.test(text);
}

/** A text with each character replaced that changes the direction of text. */
export function replaceDirectional(text: string, by: (character: string) => string): string {
  return text.replace(anyDirectional, by);
}

/** A text with each active character replaced. */
export function replaceActive(text: string, by: (character: string) => string): string {
  return text.replace(anyActive, by);
}
