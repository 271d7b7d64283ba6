import type { Static, TSchema } from 'typebox';
import type { DeclaredAnswer, Headers, Shown } from '../http/endpoint.ts';
import { jsonContent } from '../http/schema.ts';

/** Declares an answer that is JSON. */
export function jsonAnswer<Schema extends TSchema>(
  schema: Schema,
  description: string,
  headers: Headers = {},
): DeclaredAnswer<Shown<Static<Schema>>> {
  return { description, headers, content: jsonContent(schema) };
}
