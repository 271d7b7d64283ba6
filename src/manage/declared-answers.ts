import Type, { type TSchema } from 'typebox';
import type { DeclaredAnswer, Header } from '../http/endpoint.ts';
import { Location } from '../http/openapi/headers.ts';
import { jsonAnswer, orNull, text } from '../http/schema.ts';

/** The answers of the management API, as its endpoints declare them. */

const tagSchema = { type: 'string', pattern: '^"[\\w-]{22}"$' };

/** The entity tag of what an answer shows. */
export const EntityTag = {
  component: 'EntityTag',
  description: 'Identifies what the answer shows. A later change may name it in `If-Match`.',
  required: true,
  schema: tagSchema,
} as const satisfies Header;

/** An entity tag that only users have. */
export const EntityTagOfUser = {
  component: 'EntityTagOfUser',
  description: 'The entity tag of a user. An API key has none.',
  schema: tagSchema,
} as const satisfies Header;

const tagged = { ETag: EntityTag } as const;

/** One thing with its entity tag. */
export function oneTagged<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonAnswer(schema, description, tagged);
}

/** A thing that was created, and where it is. */
export function made<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonAnswer(schema, description, { Location });
}

/** A thing that was created, with its entity tag. */
export function madeTagged<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonAnswer(schema, description, { Location, ...tagged });
}

/** A page of a list. */
export function page<Schema extends TSchema>(schema: Schema, order: string) {
  const { example } = schema as { example?: unknown };
  const items = Type.Array(schema);
  return jsonAnswer(
    Type.Object({ items, nextCursor }, { example: { items: [example], nextCursor: null } }),
    `A page of the list. ${order}`,
  );
}

const nextCursor = orNull(text('The `cursor` of the next page; `null` on the last page.'));

/** Nothing but that it is done. */
export function done(description: string): DeclaredAnswer<undefined, Record<never, Header>> {
  return { description, headers: {} };
}
