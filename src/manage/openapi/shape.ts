import { type Json, jsonSchema } from '../../http/openapi/json-schema.ts';
import { schemaNamed } from '../../http/openapi/named-schemas.ts';

/** A schema that the document names, with one example. */
export interface Shape {
  /** In `components.schemas`. */
  readonly name: string;
  readonly schema: Json;
  readonly example: unknown;
}

/** The shape of a request's body, by the schema that checks it. */
export function bodyShape(name: string, schema: object, example: Json): Shape {
  return { name, schema: jsonSchema(schema), example };
}

/** Fields that an answer shows as a body gives them. @param schema that checks the body */
export function asGiven(schema: object, ...names: readonly string[]): Json {
  const { properties } = jsonSchema(schema) as { properties: Json };
  return Object.fromEntries(names.map((name) => [name, properties[name]]));
}

/** The schema of an object of an answer. @param optional fields that are not always there */
export function fields(properties: Json, optional: readonly string[] = []): Json {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}

/** The schema of one field. */
export function text(description: string): Json {
  return { type: 'string', description };
}

/** A field with one of some texts. */
export function oneOf(texts: readonly string[], description: string): Json {
  return { type: 'string', enum: texts, description };
}

/** A field with an integer from 0. */
export function count(description: string): Json {
  return { type: 'integer', minimum: 0, description };
}

/** A field with a time, in UTC. */
export function time(description: string): Json {
  return { type: 'string', format: 'date-time', description };
}

/** The same field, which may be `null`. */
export function orNull({ type, ...rest }: Json): Json {
  return { type: [type, 'null'], ...rest };
}

/** A field with things of one kind. */
export function listOf(items: Json, description?: string): Json {
  return { type: 'array', items, ...(description && { description }) };
}

/** Where the document has a shape. */
export function referTo({ name }: Shape): Json {
  return schemaNamed(name);
}

/** Times and ids in the examples. No thing has such an id. */
export const exampleTime = '2026-01-31T12:00:00.000Z';
export const exampleIds = {
  application: `app_${'0'.repeat(23)}1`,
  key: `key_${'0'.repeat(23)}2`,
  team: `team_${'0'.repeat(23)}3`,
  user: `user_${'0'.repeat(23)}4`,
  apiKey: `client_${'0'.repeat(23)}5`,
  client: `signin_${'0'.repeat(23)}6`,
} as const;
