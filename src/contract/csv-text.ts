const needsQuotes = /[",\r\n]/;

/**
 * Spreadsheets run a cell that begins with one of these signs as a formula, also with the full-width ones, and names come from whoever
 * sends packets. Some split a file at semicolons, tabs or bars, so each of these begins a cell as well.
 */
const mayBeginFormula = /(?<=^|[;|\t\r\n])(?=[\s"]*[=+\-@'＝＋－＠])|^(?=[\t\r\n])/g;

/**
 * A text as a cell of CSV (RFC 4180) that no spreadsheet runs. An apostrophe makes it a text. A text that has an apostrophe there already
 * gets another one: so the first one is never data.
 */
export function csvText(text: string): string {
  const safe = text.replace(mayBeginFormula, "'");
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
