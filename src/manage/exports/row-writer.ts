/** A value of a row. An object is JSON, also within CSV. */
export type Cell = string | number | boolean | null | object;

/** The columns of a report's rows, in their order. */
export type Columns = Readonly<Record<string, { readonly description: string; readonly example: Cell }>>;

export type RowFormat = 'csv' | 'ndjson';

/**
 * Writes rows. A row is made of parts: some neighbouring cells, written. What repeats from row to row is written once.
 */
export interface RowWriter {
  /** What comes before the first row. */
  readonly head: string;
  /** Writes neighbouring cells. @param first the column of the first one */
  part(first: number, cells: readonly Cell[]): string;
  /** Writes three neighbouring numbers: the same as `part`, without garbage, as millions of rows have them. */
  numbers(first: number, one: number, two: number, three: number): string;
  /** Makes a row of parts that have all of its cells. */
  row(first: string, second?: string, third?: string): string;
}

/** The writer of a format. */
export function writerOf(format: RowFormat, columns: Columns): RowWriter {
  const names = Object.keys(columns);
  return format === 'csv' ? csvWriter(names) : ndjsonWriter(names);
}

/** RFC 4180, with the header row. */
function csvWriter(names: readonly string[]): RowWriter {
  const part = (_: number, cells: readonly Cell[]) => cells.map(csvCell).join(',');
  const row = (first: string, second?: string, third?: string) =>
    `${first}${second === undefined ? '' : `,${second}`}${third === undefined ? '' : `,${third}`}\r\n`;
  const numbers = (_: number, one: number, two: number, three: number) => `${one},${two},${three}`;
  return { head: row(part(0, names)), part, numbers, row };
}

const needsQuotes = /[",\r\n]/;

/**
 * Spreadsheets run a cell that begins like this as a formula, also with the full-width signs, and names come from strangers. An
 * apostrophe before it makes it a text. A text that begins with an apostrophe gets another one: so the first one is never data.
 */
const mayBeFormula = /^[=+\-@\t\r\n'＝＋－＠]/;

function csvCell(value: Cell): string {
  if (typeof value === 'number') return `${value}`;
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  const safe = mayBeFormula.test(text) ? `'${text}` : text;
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function ndjsonWriter(names: readonly string[]): RowWriter {
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  return {
    head: '',
    part: (first, cells) => cells.map((cell, at) => `${keys[first + at]}${JSON.stringify(cell)}`).join(','),
    numbers: (first, one, two, three) =>
      `${keys[first]}${one},${keys[first + 1]}${two},${keys[first + 2]}${three}`,
    row: (first, second, third) =>
      `{${first}${second === undefined ? '' : `,${second}`}${third === undefined ? '' : `,${third}`}}\n`,
  };
}
