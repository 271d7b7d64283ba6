import type { Static, TObject, TSchema } from 'typebox';

/** A flag of a command, as its help text and shell completion show it. */
export interface Option {
  /** Without the dashes. */
  readonly name: string;
  /** The placeholder of its value; a flag without one is a switch. */
  readonly value?: string;
  /** Its name in earlier versions, which is still accepted. */
  readonly formerly?: string;
  readonly description: string;
  /** A second line of its description: its default. */
  readonly more?: string;
  readonly values?: readonly string[];
  /** Its value is a path. */
  readonly file?: true;
  readonly many?: true;
  readonly required?: true;
  readonly excludes?: readonly string[];
}

/** How the text of a flag becomes the value of a field. */
export type Reading =
  | 'boolean'
  | 'number'
  | 'time'
  | 'laterTime'
  | 'teamId'
  | 'applicationId'
  | 'userId'
  /** An owner of a feature: `user:E-MAIL`, `team:TEAM`, or a text. */
  | 'owner'
  | 'secretFile'
  | 'jsonFile'
  /** Words with hyphens, which the API writes with underscores. */
  | 'underscored'
  /** A switch for an empty list. */
  | 'none'
  | 'set';

/** How a text is sent: as a field of a request's body, or a parameter of its query. */
export interface FieldValue {
  /** The name of the field; by default that of the flag in camelCase. */
  readonly field?: string;
  /** By default the text itself is sent. */
  readonly as?: Reading;
  /** An empty text is sent as `null`, and for a number the text `default`. */
  readonly nullable?: true;
}

/** A flag that becomes a field of a request. */
export interface Field extends Option, FieldValue {
  /** Sent if the flag is missing. */
  readonly default?: string;
  /** What a pipeline should know that fails because of this value. */
  readonly caveat?: (value: string) => string | undefined;
}

/** The argument of a command that is not a flag. */
export interface Operand {
  readonly name: string;
  readonly description: string;
  readonly values?: readonly string[];
  readonly optional?: true;
}

/** A flag. @param usage name and placeholder of the value: `name NAME`; a name alone is a switch */
export function option<More extends Partial<Field>>(usage: string, description: string, more?: More): Field & More {
  const [name = '', value] = usage.split(' ');
  return { name, ...(value && { value }), description, ...more } as Field & More;
}

/** The forms of a time, in descriptions and messages. */
export const timeForms = '7d, 24h or 30m ago, 2026-01-31, or 2026-01-31T12:00:00Z';

/** The forms of a time in the future. */
export const laterForms = '90d or 24h from now, 2026-01-31, or 2026-01-31T12:00:00Z';

/** The time range of a list or report. @param usual where it begins by default */
export function rangeOptions(usual: string): readonly [Field, Field] {
  return [
    option('from TIME', `Start: ${timeForms}`, { more: `default: ${usual}`, as: 'time' }),
    option('to TIME', 'End, in the same forms; exclusive', { more: 'default: now', as: 'time' }),
  ];
}

export const teamOption = option('team TEAM', 'Team: id or name', { more: 'default: your primary team', as: 'teamId' });

export const newName = option('name NAME', 'New name');

/** The flags of each field of a body. `null`: the client does not set this field by a flag. */
export type BodyOptions<Body extends TObject> = {
  readonly [Name in keyof Static<Body>]-?: Field | readonly Field[] | null;
};

export function listValues(schema: TSchema): readonly string[] {
  return describeSchema(schema).values ?? [];
}

export function createFields<Body extends TObject>(body: Body, options: BodyOptions<Body>): readonly Field[] {
  const required: readonly string[] = body.required ?? [];
  return Object.entries<Field | readonly Field[] | null>(options).flatMap(([name, declared]) => {
    const schema = body.properties[name] as TSchema;
    return [declared ?? []]
      .flat()
      .map((each) => ({
        ...(required.includes(name) && each.default === undefined && { required: true as const }),
        ...takenBy(schema, each),
        ...each,
        field: name,
      }));
  });
}

function takenBy(schema: TSchema, { value }: Option): Partial<Field> {
  if (value === undefined) return {};
  const { types, values } = describeSchema(schema);
  if (types.has('array')) {
    const { items } = schema as { items?: TSchema };
    const each = items && describeSchema(items).values;
    return { many: true, ...(each && { values: each }) };
  }
  if (types.has('boolean')) return { values: ['true', 'false'], as: 'boolean' };
  return {
    ...(values && { values }),
    ...((types.has('number') || types.has('integer')) && { as: 'number' as const }),
    ...(types.has('null') && { nullable: true as const }),
  };
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
}

/** The JSON types of a schema, and its texts if it lists them. */
function describeSchema(schema: JsonSchema): { types: ReadonlySet<string>; values?: readonly string[] } {
  const alternatives = schema.anyOf ?? [schema];
  const values = alternatives.flatMap((alternative) => alternative.enum ?? alternative.const ?? []);
  const types = new Set(alternatives.flatMap(({ type = [] }) => type));
  return { types, ...(values.length > 0 && { values }) };
}
