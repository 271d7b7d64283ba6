/** Characters that change the direction of the text around them (Unicode Bidirectional Algorithm, UAX #9). */
const directional = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

const oneDirectional = new RegExp(`[${directional}]`, 'u');
const anyDirectional = new RegExp(`[${directional}]`, 'gu');

/** Characters that a terminal or a page would act on: control characters, line separators, and directional characters. */
const anyActive = new RegExp(`[\\p{Cc}\\u2028\\u2029${directional}]`, 'gu');

export function changesDirection(text: string): boolean {
  return oneDirectional.test(text);
}

/** A text with its directional characters replaced. */
export function replaceDirectional(text: string, by: (character: string) => string): string {
  return text.replace(anyDirectional, by);
}

/** A text with its active characters replaced. */
export function replaceActive(text: string, by: (character: string) => string): string {
  return text.replace(anyActive, by);
}
