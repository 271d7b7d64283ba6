import type { Flag, Given, Operand } from './command.ts';

/** A flag that becomes a field of a request's body, or a parameter of its query. */
export interface Field extends Flag, FieldValue {
  /** What is sent when the flag is not given. */
  readonly default?: string;
}

/** The operand of a command, as a field of a request's body. */
export type OperandField = Operand & FieldValue;

interface FieldValue {
  /** The name of the field; that of the flag in camelCase without. */
  readonly field?: string;
  /** What is sent for a value; the value itself without. @param flag without its dashes */
  read?(value: string, reader: Reader, flag: string): unknown;
}

/** What a request is made of that is not in the arguments themselves. */
export interface Reader {
  /** The first line of the file that a flag names. */
  secretFile(path: string, flag: string): string;
  /** The id of the team with this id or name. */
  teamId(named: string): Promise<string>;
  /** The id of the user with this id or e-mail address. */
  userId(named: string): Promise<string>;
  /** A time, RFC 3339 in UTC. */
  time(text: string, flag: string): string;
}

/** A flag. @param usage its name and the placeholder of its value: `name NAME`; a name alone is a switch */
export function flag<More extends Partial<Field>>(
  usage: string,
  description: string,
  more?: More,
): Field & More {
  const [name = '', value] = usage.split(' ');
  return { name, ...(value && { value }), description, ...more } as Field & More;
}

/** The fields of a request, by their names: those whose flags were given, and those that have a default. */
export async function readFields(
  fields: readonly Field[],
  given: Given,
  reader: Reader,
): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const { name, field = camelCase(name), many, default: usual, read = asGiven } of fields) {
    const texts = given.has(name) || usual === undefined ? given.all(name) : [usual];
    if (texts.length === 0) continue;
    const values = await Promise.all(texts.map((text) => read(text, reader, name)));
    all[field] = many ? values : values.at(-1);
  }
  return all;
}

/** The fields of a request as the parameters of its query. */
export function queryOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

function asGiven(value: string): unknown {
  return value;
}

function camelCase(flagName: string): string {
  return flagName.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
