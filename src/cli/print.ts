import type { Item } from './api.ts';
import type { Context } from './context.ts';
import { labelOf, show } from './show.ts';
import { type Heading, makeTable, recordText } from './table.ts';

export interface Column extends Heading {
  /** The value of a cell, before `show` formats it. */
  of(item: Item): unknown;
}

/** Prints items as rows of a table, and the titles of columns that do not fit. */
export function printTable(
  { out, err, bold, width }: Context,
  columns: readonly Column[],
  items: readonly Item[],
): void {
  const rows = items.map((item) => columns.map((column) => show(column.of(item))));
  const { text, leftOut } = makeTable(columns, rows, { bold, width });
  out(text);
  if (leftOut.length > 0)
    err(`Columns that do not fit: ${leftOut.join(', ')}. Use a wider terminal, or --json\n`);
}

/** Prints the fields of an object. */
export function printRecord({ out }: Context, fields: Item): void {
  out(recordText(Object.entries(fields).map(([name, value]) => [labelOf(name), show(value)])));
}

/** Prints JSON for scripts. */
export function printJson({ out }: Context, value: unknown): void {
  out(`${JSON.stringify(value)}\n`);
}

/** Prints rows as they arrive. */
export async function printRows({ out, drained }: Context, rows: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const piece of rows) {
    out(decoder.decode(piece, { stream: true }));
    await drained();
  }
}

/** For text that may be truncated. */
export const cut = { cut: true } as const;
/** Numbers. */
export const right = { right: true } as const;

/** A column of the values of a field. */
export function column(title: string, field: string, more: Omit<Column, 'title' | 'of'> = {}): Column {
  return { title, ...more, of: (item) => item[field] };
}
