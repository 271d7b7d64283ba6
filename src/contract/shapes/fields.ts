import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** Options of a TypeBox schema that are used in the OpenAPI document only. */
export interface DocumentOptions {
  /** Name of the component in which the OpenAPI document describes the schema. */
  readonly component?: string;
  /**
   * JSON Schema that the document adds to the schema, for checks that the schema does not express. With a `component`,
   * it replaces the schema in the document.
   */
  readonly documented?: object;
  readonly example?: unknown;
}

export const text = (description: string) => Type.String({ description });
export const boolean = (description: string) => Type.Boolean({ description });
export const number = (description: string) => Type.Number({ description });
/** A non-negative integer. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });
/** A time in UTC, as formatted by the service. */
export const time = (description: string) => Type.String({ format: 'date-time', description });
export const list = <Item extends TSchema>(items: Item, description?: string) =>
  Type.Array(items, description === undefined ? {} : { description });

/** A response field whose value is one of several texts. */
export function oneOf<const Texts extends readonly string[]>(texts: Texts, description: string) {
  return Type.Unsafe<Texts[number]>({ type: 'string', enum: texts, description });
}

/** Makes a field nullable. @param description by default the description of the field */
export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  const more = description === undefined ? {} : { description };
  const allowed = values === undefined ? {} : { enum: [...values, null] };
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'], ...allowed, ...more });
}

/** A UTC day. */
export const day = (description: string) => Type.String({ format: 'date', description });

/** Two numbers, the lower first. */
export const interval = (description: string) =>
  Type.Unsafe<[low: number, high: number]>({ ...Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), description });

/** Makes all fields optional, for the body of a change. */
export const optional = <Properties extends TProperties>(properties: Properties) =>
  Type.Partial(Type.Object(properties)).properties;

/** Returns the example of a shape. */
export const getExample = <Schema extends TSchema>(schema: Schema) =>
  (schema as DocumentOptions).example as Static<Schema>;

/** A name that `isName` accepts. */
export function name(description?: string) {
  return Type.String({ ...(description !== undefined && { description }), ...Name });
}

/** A character class that excludes control characters. */
export const printable = '[^\\u0000-\\u001f\\u007f-\\u009f]';

/** Options of a schema for names. */
export const Name = {
  documented: {
    component: 'Name',
    description: 'A name: 1 to 256 bytes of well-formed UTF-8 without control characters.',
    type: 'string',
    minLength: 1,
    maxLength: 256,
    pattern: `^${printable}+$`,
    examples: ['checkout'],
  },
} satisfies DocumentOptions;

/** Options of a schema for RFC 3339 times. */
export const Time = {
  documented: {
    component: 'Time',
    description: 'An RFC 3339 time with any offset from UTC.',
    type: 'string',
    format: 'date-time',
    examples: ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00.5+01:00'],
  },
} satisfies DocumentOptions;

/** Declares an object of a response, with its name and example for the OpenAPI document. */
export function shape<Properties extends TProperties>(
  component: string,
  properties: Properties,
  example: Static<Type.TObject<Properties>>,
) {
  return Type.Object(properties, { component, example });
}

/** Declares the object of a request body. Unknown fields are rejected, because they might be misspellings. */
export function bodyShape<Properties extends TProperties>(
  component: string,
  properties: Properties,
  example: Static<Type.TObject<Properties>>,
) {
  return Type.Object(properties, { component, example, additionalProperties: false });
}

/** Times and ids in the examples of the OpenAPI document. No resource has such an id. */
export const exampleTime = '2026-01-31T12:00:00.000Z';
export const exampleIds = {
  application: `app_${'0'.repeat(23)}1`,
  key: `key_${'0'.repeat(23)}2`,
  team: `team_${'0'.repeat(23)}3`,
  user: `user_${'0'.repeat(23)}4`,
  apiKey: `client_${'0'.repeat(23)}5`,
  client: `signin_${'0'.repeat(23)}6`,
  webhook: `webhook_${'0'.repeat(23)}7`,
  delivery: `msg_8_${'0'.repeat(23)}8`,
} as const;

export type DeepReadonly<T> = { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** The type of the selected fields of a resource, as a record stores them. */
export type StoredFields<Resource, Names extends readonly (keyof Resource)[]> = DeepReadonly<
  Pick<Resource, Names[number]>
>;

/** Returns an object with the named fields of a record. */
export function pick<Row, const Names extends readonly (keyof Row)[]>(
  row: Row,
  names: Names,
): Pick<Row, Names[number]> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Names[number]>;
}

/** One page of a list; `nextCursor` is `null` on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}
