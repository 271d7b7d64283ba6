import type { ComponentChildren } from 'preact';
import { type Columns, type Column as Declared, type Path, wholeColumn } from '../../../contract/resources/column.ts';
import { format } from '../../text/format.ts';
import type { CsvValue } from '../download.ts';
import type { Column } from './table.tsx';

/** Content of a cell. `true` shows the value of the field; `false` omits the column. */
type Cell<Row> = boolean | ((row: Row) => ComponentChildren);

/**
 * Creates the columns that the contract declares for a resource.
 * @param cells contents by field. Columns without an entry follow the columns with an entry.
 */
export function createDeclaredColumns<Row>(
  declared: Columns<Row>,
  cells: { readonly [Name in Path<Row>]?: Cell<Row> },
): readonly Column<Row>[] {
  const paths = new Set([...Object.keys(cells), ...Object.keys(declared)] as Path<Row>[]);
  return [...paths].flatMap((path) => {
    const { [path]: cell = true } = cells;
    const { [path]: column } = declared;
    return cell === false || column === undefined ? [] : [createColumn(path, column, cell)];
  });
}

function createColumn<Row>(path: string, declared: Declared<Row>, cell: true | ((row: Row) => ComponentChildren)) {
  const { label, right, of } = wholeColumn<Row>(path, declared);
  return {
    key: path,
    title: label,
    number: right === true,
    csv: (row: Row) => of(row) as CsvValue,
    cell: cell === true ? (row: Row) => shown(of(row)) : cell,
  };
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

function shown(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'number') return format.full(value);
  return time.test(String(value)) ? format.time(String(value)) : String(value);
}
