/** A value of a row. An object is JSON, also within CSV. */
export type Cell = string | number | boolean | null | object;

/** How rows are written in a format. */
interface Style {
  /** What comes before the first row. @param names of the columns */
  head(names: readonly string[]): string;
  /** What comes before the cell of a column. */
  before(name: string, isFirst: boolean): string;
  cell(value: Cell): string;
  /** What comes after the last cell. */
  readonly end: string;
}

export type RowFormat = 'csv' | 'ndjson';

export const styles: Readonly<Record<RowFormat, Style>> = {
  // RFC 4180, with the header row.
  csv: {
    head: (names) => `${names.map(csvCell).join(',')}\r\n`,
    before: (_, isFirst) => (isFirst ? '' : ','),
    cell: csvCell,
    end: '\r\n',
  },
  ndjson: {
    head: () => '',
    before: (name, isFirst) => `${isFirst ? '{' : ','}${JSON.stringify(name)}:`,
    cell: (value) => JSON.stringify(value),
    end: '}\n',
  },
};

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
