import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type CsvValue, downloadCsv, toCsv } from '../download.ts';
import { ExportMenu } from '../export-menu.tsx';
import { descending, nextSort, type Sort, type SortValue, sortKey, sortRows } from './sort.ts';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  /** Value for sorting and for the CSV file. Absent if the column cannot be sorted. */
  readonly value?: (row: Row) => SortValue;
  readonly csv?: (row: Row) => CsvValue;
  /** Content of the head in a `VirtualTable`; by default the title. */
  readonly head?: ComponentChildren;
  readonly cell?: (row: Row) => ComponentChildren;
  /** True if the column holds numbers, which are right-aligned. */
  readonly number?: boolean;
  readonly class?: string;
  /** Width in a `VirtualTable`, as a track of a CSS grid. */
  readonly width?: string;
}

export interface TableProps<Row> {
  /** Title of the table. Only screen readers show it, unless `showCaption` is set. */
  readonly caption: string;
  readonly showCaption?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Initial order: `name`, `-checks`; by default the order of `rows`. */
  readonly sort?: Sort;
  /** Receives a new order, if the page keeps the order in its address. */
  readonly onSort?: (sort: Sort) => void;
  /** Name of the CSV file; absent if the table cannot be saved. */
  readonly csv?: string;
  /** Shown instead of a table without rows. */
  readonly empty?: ComponentChildren;
  /** True if the address names this row. The row is highlighted and scrolled into view. */
  readonly target?: (row: Row) => boolean;
  /** True to show each row as a block of lines on a phone, for tables with few columns. */
  readonly stacked?: boolean;
}

/** A table of up to a few hundred rows. `VirtualTable` is for longer tables. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, showCaption, columns, rows, rowKey, onSort, csv, empty, stacked, target } = props;
  const own = useSignal<Sort>(props.sort ?? '');
  const sort = onSort === undefined ? own.value : (props.sort ?? '');
  const keep = (next: Sort) => (own.value = next);
  const change = onSort ?? keep;
  if (rows.length === 0 && empty !== undefined) return <div class="empty">{empty}</div>;
  const column = columns.find(({ key }) => key === sortKey(sort));
  const sorted = column?.value === undefined ? rows : sortRows(rows, sort, column.value);
  return (
    <div class={stacked ? 'table stacked' : 'table'}>
      {csv !== undefined && <ExportTable caption={caption} name={csv} columns={columns} rows={sorted} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard on a phone */}
      <section class="table-scroll" aria-label={caption} tabIndex={0}>
        <table>
          <caption class={showCaption ? undefined : 'hidden'}>{caption}</caption>
          <thead>
            <tr>
              {columns.map((each) => (
                <SortHead key={each.key} column={each} sort={sort} onSort={change} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((row) => (
              <tr key={rowKey(row)} {...(target?.(row) && targetRow)}>
                {columns.map((each) => (
                  <td key={each.key} class={cellClass(each)} data-title={each.title}>
                    {each.cell ? each.cell(row) : each.value?.(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

const targetRow = {
  class: 'target-row',
  'aria-current': true,
  ref: (row: HTMLElement | null) => row?.scrollIntoView({ block: 'center' }),
} as const;

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

function SortHead<Row>({ column, sort, onSort }: HeadProps<Row>) {
  return (
    <th scope="col" class={cellClass(column)} aria-sort={ariaSort(column.key, sort)}>
      {column.value === undefined ? column.title : <SortButton column={column} sort={sort} onSort={onSort} />}
    </th>
  );
}

export function SortButton<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { key, title, number } = column;
  const order = sortKey(sort) === key ? (descending(sort) ? '↓' : '↑') : '';
  return (
    <button type="button" class="sort" onClick={() => onSort(nextSort(sort, key, number === true))}>
      {title}
      {order && (
        <span class="order" aria-hidden="true">
          {order}
        </span>
      )}
    </button>
  );
}

export function ariaSort(key: string, sort: Sort): 'ascending' | 'descending' | undefined {
  if (sortKey(sort) !== key) return undefined;
  return descending(sort) ? 'descending' : 'ascending';
}

interface ExportTableProps<Row> {
  readonly caption: string;
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

export function ExportTable<Row>({ caption, name, columns, rows }: ExportTableProps<Row>) {
  const save = () => downloadCsv(name, formatCsv(columns, rows));
  return <ExportMenu of={caption} items={[{ label: 'CSV', onSelect: save }]} />;
}

/** Formats the rows as CSV, with the columns that have a value. */
export function formatCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const saved = columns.filter(({ csv, value }) => csv !== undefined || value !== undefined);
  return toCsv(
    saved.map(({ title }) => title),
    rows.map((row) => saved.map(({ csv, value }) => (csv ?? value)?.(row))),
  );
}

function cellClass<Row>({ number, class: own }: Column<Row>): string | undefined {
  const names = [number ? 'number' : '', own ?? ''].filter(Boolean).join(' ');
  return names === '' ? undefined : names;
}
