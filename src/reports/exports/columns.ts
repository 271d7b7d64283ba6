import type { TObject, TSchema } from 'typebox';
import type { Documented } from '../../contract/shapes/fields.ts';

/** A value in a row. An object is written as JSON, in CSV too. */
export type Cell = string | number | boolean | null | object;

/** The columns of a report, in order. */
export type Columns = Readonly<Record<string, { readonly description: string; readonly example: Cell }>>;

interface Field extends TSchema {
  readonly type?: unknown;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/**
 * A column for each field of an object, as the JSON answer describes it. Fields of an object inside are columns of their own.
 * Lists are left out.
 */
export function columnsOf(schema: TObject, example = (schema as Documented).example as object): Columns {
  const examples = new Map<string, Cell>(Object.entries(example));
  const columns = Object.entries<Field>(schema.properties).map(([name, field]): Columns => {
    const { type, description = '', enum: values = [] } = field;
    if (type === 'array') return {};
    if (type === 'object') return columnsOf(field as unknown as TObject, examples.get(name) as object);
    const oneOf = values.map((value) => ` \`${value}\``);
    return { [name]: { description: `${description}${oneOf}`, example: examples.get(name) ?? null } };
  });
  return Object.assign({}, ...columns);
}

/** The columns of the items of a list in a report. */
export function columnsIn(report: TObject, list: string): Columns {
  const { items } = report.properties[list] as unknown as { readonly items: TObject };
  const examples = new Map(Object.entries((report as Documented).example as object));
  return columnsOf(items, examples.get(list).at(-1));
}

/** The cells of an item that has a field for each column. */
export function cellsIn(item: object, columns: Columns): readonly Cell[] {
  const fields = new Map<string, Cell>(Object.entries(item));
  return Object.keys(columns).map((name) => fields.get(name) ?? null);
}
