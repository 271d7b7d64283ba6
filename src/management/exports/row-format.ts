import { csvText } from '../../contract/csv-text.ts';

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

function csvCell(value: Cell): string {
  if (typeof value === 'number') return `${value}`;
  if (value === null) return '';
  return csvText(typeof value === 'object' ? JSON.stringify(value) : `${value}`);
}
