import { type Answer, type JsonBytes, Written } from '../../http/answer.ts';
import type { Cell, RowFormat } from './row-format.ts';
import { type Columns, RowWriter } from './row-writer.ts';

/** 200 with what is few enough to be written at once. @param items with a field for each column */
export function fewRows(
  { format, type }: { readonly format: RowFormat; readonly type: string },
  columns: Columns,
  items: readonly object[],
): Answer<200, never> {
  const writer = new RowWriter(format, columns);
  const names = Object.keys(columns);
  for (const item of items) {
    const fields = new Map(Object.entries(item) as [string, Cell][]);
    const cells = names.map((name) => fields.get(name) ?? null);
    writer.add(writer.part(0, cells));
    writer.end();
  }
  return written(type, writer.rest());
}

/** What was written as JSON in the thread of the reports. */
export function read<T>(json: JsonBytes<T>): T {
  return JSON.parse(new TextDecoder().decode(json));
}

/** 200 with a body in another format than JSON. */
export function written(...[type, content]: ConstructorParameters<typeof Written>): Answer<200, never> {
  return { status: 200, body: new Written(type, content), headers: {} };
}
