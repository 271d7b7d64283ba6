const needsQuotes = /[",\r\n]/;

/**
 * Spreadsheets evaluate a cell that begins with one of these characters as a formula, including the full-width ones, and anyone can
 * send names. Some spreadsheets split a file at semicolons, tabs or bars, so these begin a cell as well.
 */
const mayBeginFormula = /(?<=^|[;|\t\r\n])(?=[\s"]*[=+\-@'＝＋－＠])|^(?=[\t\r\n])/g;

/**
 * A text as a cell of CSV (RFC 4180) that no spreadsheet evaluates. An apostrophe marks it as text. A text that begins with an
 * apostrophe gets another one, so the first is never data.
 */
export function csvText(text: string): string {
  const safe = text.replace(mayBeginFormula, "'");
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const apostrophe = /(?<=^|[;|\t\r\n])'/g;

/** The original of a text that `csvText` has written, without its quotes. */
export function originalText(text: string): string {
  return text.includes("'") ? text.replace(apostrophe, '') : text;
}
