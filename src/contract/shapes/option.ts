import type { Static, TObject, TSchema } from 'typebox';

/** An option of a command, as its help text and shell completion show it. */
export interface Option {
  /** Name without the dashes. */
  readonly name: string;
  /** Placeholder of the value. An option without a placeholder is a switch. */
  readonly value?: string;
  /** Former name of the option, which is still accepted. */
  readonly formerly?: string;
  readonly description: string;
  /** Second line of the description: the default. */
  readonly more?: string;
  readonly values?: readonly string[];
  /** True if the value is a path. */
  readonly file?: true;
  readonly many?: true;
  readonly required?: true;
  readonly excludes?: readonly string[];
}

/** Names of the conversions from the text of an option to the value of a field. */
export type Reading =
  | 'boolean'
  | 'number'
  | 'time'
  | 'laterTime'
  | 'teamId'
  /** An environment of the application; empty for the only environment. */
  | 'environment'
  | 'applicationId'
  | 'userId'
  /** An owner of a feature: `user:E-MAIL`, `team:TEAM`, or a text. */
  | 'owner'
  | 'secretFile'
  | 'jsonFile'
  /** A text with hyphens, which are sent as underscores. */
  | 'underscored'
  /** A switch that sends an empty list. */
  | 'none'
  | 'set';

/** Destination of the value of an option: a field of the request body, or a query parameter. */
export interface FieldValue {
  /** Name of the field; by default the name of the option in camelCase. */
  readonly field?: string;
  /** Conversion; by default the text itself is sent. */
  readonly as?: Reading;
  /** True if an empty text is sent as `null`. For a number, the text `default` is sent as `null`. */
  readonly nullable?: true;
}

/** An option that becomes a field of a request. */
export interface Field extends Option, FieldValue {
  /** Value that is sent if the option is missing. */
  readonly default?: string;
  /** Returns a hint for pipelines in which a filter with this value causes the failure. */
  readonly caveat?: (value: string) => string | undefined;
}

/** A positional argument of a command. */
export interface Operand {
  readonly name: string;
  readonly description: string;
  readonly values?: readonly string[];
  readonly optional?: true;
}

/**
 * Declares an option. @param usage name and placeholder of the value: `name NAME`; an option without a placeholder is a
 * switch
 */
export function option<More extends Partial<Field>>(usage: string, description: string, more?: More): Field & More {
  const [name = '', value] = usage.split(' ');
  return { name, ...(value && { value }), description, ...more } as Field & More;
}

/** Accepted forms of a time, for descriptions and messages. */
export const timeForms = '7d, 24h or 30m ago, 2026-01-31, or 2026-01-31T12:00:00Z';

/** Accepted forms of a time in the future. */
export const laterForms = '90d or 24h from now, 2026-01-31, or 2026-01-31T12:00:00Z';

/** Returns the options of the time range of a list or report. @param usual default of the range's start */
export function rangeOptions(usual: string): readonly [Field, Field] {
  return [
    option('from TIME', `Start: ${timeForms}`, { more: `default: ${usual}`, as: 'time' }),
    option('to TIME', 'End, in the same forms; exclusive', { more: 'default: now', as: 'time' }),
  ];
}

/** Returns the option for an environment, which has the same name in all commands. */
export function envOption<More extends Partial<Field>>(description: string, more?: More) {
  return option('env NAME', description, { field: 'environment', formerly: 'environment', ...more });
}

/** Returns the option for one environment, whose default is the only environment of the application. */
export function oneEnvOption(description: string) {
  return envOption(description, { more: 'default: the only environment', as: 'environment', default: '' });
}

export const teamOption = option('team TEAM', 'Team: id or name', { more: 'default: your primary team', as: 'teamId' });

export const newName = option('name NAME', 'New name');

/** The options of each field of a body. `null` if the client has no option for the field. */
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

/** Returns the JSON types of a schema, and the allowed texts if the schema is an enumeration. */
function describeSchema(schema: JsonSchema): { types: ReadonlySet<string>; values?: readonly string[] } {
  const alternatives = schema.anyOf ?? [schema];
  const values = alternatives.flatMap((alternative) => alternative.enum ?? alternative.const ?? []);
  const types = new Set(alternatives.flatMap(({ type = [] }) => type));
  return { types, ...(values.length > 0 && { values }) };
}
