import Type, { type TSchema } from 'typebox';
import { orNull, text } from '../contract/shapes/fields.ts';
import { type Answer, created as createdAt } from '../http/answer.ts';
import { type DeclaredAnswer, type Header, jsonAnswer } from '../http/endpoint.ts';
import { Location } from '../http/openapi/headers.ts';

/** The answers of the management API: as its endpoints declare them, and what its handlers give. */

const tagSchema = { type: 'string', pattern: '^"[\\w-]{22}"$' };

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

/** 201 with a thing and where it is. @param segments path segments below `/api/v2`, not encoded */
export function created<Body>(segments: readonly string[], body: Body): Answer<201, Body, 'location'> {
  return createdAt(['/api/v2', ...segments.map(encodeURIComponent)].join('/'), body);
}

/** Unix milliseconds as RFC 3339 in UTC; `null` stays. */
export function timeText(at: number): string;
export function timeText(at: number | null): string | null;
export function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
