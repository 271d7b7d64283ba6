/** Characters that change the direction of the text around them (Unicode Bidirectional Algorithm, UAX #9). */
const directional = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';

const oneDirectional = new RegExp(`[${directional}]`, 'u');
const anyDirectional = new RegExp(`[${directional}]`, 'gu');

/** Characters that change how a terminal or page shows a text: controls, line separators, directional characters. */
const anyActive = new RegExp(`[\\p{Cc}\\u2028\\u2029${directional}]`, 'gu');

export function changesDirection(text: string): boolean {
  return oneDirectional.test(text);
}

/** Replaces the directional characters of a text. */
export function replaceDirectional(text: string, by: (character: string) => string): string {
  return text.replace(anyDirectional, by);
}

/** Replaces characters that change how a text is shown. */
export function replaceActive(text: string, by: (character: string) => string): string {
  return text.replace(anyActive, by);
}

const needsQuotes = /[",\r\n]/;

/**
 * Matches the start of a cell that spreadsheets might evaluate as a formula. Anyone can send such text. Some
 * spreadsheets split a file at semicolons, tabs or bars, so a cell can also begin after these characters.
 */
const mayBeginFormula = /(?<=^|[;|\t\r\n])(?=[\s"]*[=+\-@'＝＋－＠])|^(?=[\t\r\n])/g;

/**
 * Returns a text as a cell of CSV (RFC 4180) that no spreadsheet evaluates. An apostrophe marks it as text. A text that
 * begins with an apostrophe gets a second apostrophe, so the first apostrophe is never data.
 */
export function csvText(text: string): string {
  const safe = text.replace(mayBeginFormula, "'");
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const apostrophe = /(?<=^|[;|\t\r\n])'/g;

/** Returns the text that `csvText` has escaped. @param text a cell without its quotes */
export function originalText(text: string): string {
  return text.includes("'") ? text.replace(apostrophe, '') : text;
}

/** Returns a code span of Markdown. The span begins and ends with equally many backticks (CommonMark §6.1). */
export function codeSpan(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  const isPadded = /^[` ]|[` ]$/.test(text);
  return isPadded ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`;
}
