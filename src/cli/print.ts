import { type AnyColumns, type Column, wholeColumn } from '../contract/resources/column.ts';
import type { Item } from './api.ts';
import type { Context } from './context.ts';
import { formatLabel, makeTable, recordText, show, showBoth, showForPerson } from './show.ts';

/** Prints a table. Columns that do not fit are omitted, and their titles are printed on standard error. */
export function printTable(
  { out, err, styled, width, clock }: Context,
  columns: AnyColumns,
  items: readonly Item[],
): void {
  const whole = Object.entries(columns as Readonly<Record<string, Column<Item>>>).map(([path, column]) =>
    wholeColumn(path, column),
  );
  const headings = whole.map(({ label, ...more }) => ({ ...more, title: label.toUpperCase() }));
  const now = clock.now();
  const showCell = (value: unknown, kind: (typeof whole)[number]) =>
    width === undefined ? show(value) : showForPerson(value, kind, now);
  const rows = items.map((item) => whole.map((column) => showCell(column.of(item), column)));
  const { text, leftOut } = makeTable(headings, rows, { styled, width });
  out(text);
  if (leftOut.length > 0) err(`Columns that do not fit: ${leftOut.join(', ')}. Use a wider terminal, or --json\n`);
}

/** Prints the fields of an item. On a terminal, a time is followed by the distance from now. */
export function printRecord({ out, width, clock }: Context, fields: Item): void {
  const now = clock.now();
  const showField = (value: unknown) => (width === undefined ? show(value) : show(value, (at) => showBoth(at, now)));
  out(recordText(Object.entries(fields).map(([name, value]) => [formatLabel(name), showField(value)])));
}

export function printJson({ out }: Context, value: unknown): void {
  out(`${JSON.stringify(value)}\n`);
}

export async function printRows({ out, drained }: Context, rows: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of rows) {
    out(decoder.decode(chunk, { stream: true }));
    await drained();
  }
}
