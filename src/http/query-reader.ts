import Type, { type Static, type TProperties } from 'typebox';
import { Refusal } from '../contract/errors.ts';
import type { DocumentOptions } from '../contract/shapes/fields.ts';
import { parseTime } from '../runtime/rfc3339.ts';
import type { Json, Parameter } from './endpoint.ts';
import { queryPairs } from './pairs.ts';

interface ParameterSchema extends DocumentOptions {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly anyOf?: readonly { readonly const?: string }[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  /** Maximum number of characters. */
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

export type QueryOf<Properties extends TProperties> = Static<Type.TObject<Properties>>;

/** Returns the schema of a time parameter, whose value is in Unix ms. */
export function timeParameter(options: DocumentOptions & { readonly description: string }) {
  return Type.Unsafe<number>({ type: 'string', format: 'date-time', ...options });
}

/**
 * Returns a reader of queries, which ignores parameters that `properties` lacks. The reader throws `invalid_query` with
 * the name of the first missing or invalid parameter.
 */
export function queryReader<Properties extends TProperties>(
  properties: Properties,
): (query: string) => QueryOf<Properties> {
  const parameters = Object.entries(properties).map(([name, schema]) => {
    const optional = Type.IsOptional(schema);
    const { default: usual, type, maxItems = Infinity } = schema as ParameterSchema;
    const most = type === 'array' ? maxItems : undefined;
    return { name, usual, optional, most, read: createReader(name, schema as ParameterSchema) };
  });
  return (query) => {
    const pairs = queryPairs(query);
    const sent = new Map(pairs);
    const values: Record<string, unknown> = {};
    for (const { name, usual, optional, most, read } of parameters) {
      const text = sent.get(name);
      if (text !== undefined) values[name] = most === undefined ? read(text) : readValues(name, pairs, most);
      else if (usual !== undefined) values[name] = usual;
      else if (!optional) throw new Refusal('invalid_query', `${name} is missing`);
    }
    return values as QueryOf<Properties>;
  };
}

function readValues(
  name: string,
  pairs: readonly (readonly [name: string, value: string])[],
  maxItems: number,
): readonly string[] {
  const values = pairs.filter(([each]) => each === name).map(([, value]) => value);
  if (values.length <= maxItems) return values;
  throw new Refusal('invalid_query', `${name} may be given at most ${maxItems} times`);
}

export function queryParameters(properties: TProperties): readonly Parameter[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { component, description, ...rest } = schema as ParameterSchema & Json;
    const required = !Type.IsOptional(schema) && rest.default === undefined;
    return {
      name,
      in: 'query',
      schema: rest,
      ...(component !== undefined && { component }),
      ...(description !== undefined && { description }),
      ...(required && { required }),
    };
  });
}

function createReader(name: string, schema: ParameterSchema): (text: string) => unknown {
  if (schema.format === 'date-time') return (text) => readTime(name, text);
  if (schema.anyOf !== undefined) return choiceReader(name, schema.anyOf);
  switch (schema.type) {
    case 'boolean':
      return choiceReader(name, [{ const: 'true' }, { const: 'false' }], (text) => text === 'true');
    case 'integer':
      return integerReader(name, schema);
    default:
      return textReader(name, schema);
  }
}

function textReader(name: string, { minLength = 0, maxLength = Infinity }: ParameterSchema) {
  return (text: string) => {
    if (text.length < minLength) throw new Refusal('invalid_query', `${name} must not be empty`);
    if (text.length <= maxLength || Array.from(text).length <= maxLength) return text;
    throw new Refusal('invalid_query', `${name} must have at most ${maxLength} characters`);
  };
}

function choiceReader(
  name: string,
  options: readonly { readonly const?: string }[],
  toValue: (text: string) => unknown = (text) => text,
): (text: string) => unknown {
  const texts = options.map((option) => option.const ?? '');
  const all = `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
  return (text) => {
    if (texts.includes(text)) return toValue(text);
    throw new Refusal('invalid_query', `${name} must be ${all}`);
  };
}

function integerReader(name: string, { minimum = 0, maximum = Infinity }: ParameterSchema) {
  return (text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new Refusal('invalid_query', `${name} must be an integer from ${minimum} to ${maximum}`);
  };
}

/** Reads a time. RFC 3339 §5.6 allows a space between date and time. */
function readTime(name: string, text: string): number {
  const time = parseTime(text.replace(' ', 'T'));
  if (time === undefined) {
    throw new Refusal('invalid_query', `${name} must be an RFC 3339 time, such as 2026-01-31T12:00:00Z`);
  }
  if (time < 0) throw new Refusal('invalid_query', `${name} must not be before 1970-01-01T00:00:00Z`);
  return Math.floor(time);
}
