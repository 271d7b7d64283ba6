import type { Static, TSchema } from 'typebox';

/** A column of the tables of the client and of the console. Most columns need only a label. */
export type Column<Row> =
  | string
  | {
      readonly label: string;
      /** True for text that can be truncated; `last` for a name, which is truncated last. */
      readonly cut?: true | 'last';
      /** True for numbers, which are aligned right. */
      readonly right?: true;
      /** True for an id, which a terminal omits where space is short. */
      readonly id?: true;
      /** True for an estimated number of people. */
      readonly people?: true;
      /** True for a state, which the client shows in a colour. */
      readonly state?: true;
      /** Returns the value of a cell. The default is the value of the field. */
      readonly of?: (row: Row) => unknown;
    };

/** Names of the fields of a row, and paths to fields of an object in the row, such as `actor.name`. */
export type Path<Row> = {
  [Name in keyof Row & string]: Row[Name] extends readonly unknown[] | null
    ? Name
    : Name | (Row[Name] extends object ? `${Name}.${keyof Row[Name] & string}` : never);
}[keyof Row & string];

export type Columns<Row> = { readonly [Name in Path<Row>]?: Column<Row> };

export type ColumnsOf<Schema extends TSchema> = Columns<Static<Schema>>;

export type AnyColumns = Readonly<Record<string, Column<never>>>;

/** Converts a column to an object with a function `of`. */
export function wholeColumn<Row>(path: string, column: Column<Row>) {
  const value = (row: Row) =>
    path.split('.').reduce<unknown>((object, field) => (object as Record<string, unknown>)[field], row);
  return { of: value, ...(typeof column === 'string' ? { label: column } : column) };
}
