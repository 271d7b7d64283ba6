import Type, { type TSchema } from 'typebox';
import { ApiError } from '../contract/errors.ts';
import { orNull, text } from '../contract/shapes/fields.ts';
import { type Answer, created as createdAt, ok } from '../http/answer.ts';
import { type DeclaredAnswer, type Header, jsonAnswer } from '../http/endpoint.ts';
import { entityTag } from '../http/entity-tag.ts';
import { Location } from '../http/openapi/headers.ts';
import type { Request } from '../http/types.ts';

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

const withETag = { ETag: EntityTag } as const;

/** One thing with its entity tag. */
export function oneTagged<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonAnswer(schema, description, withETag);
}

/** A thing that was created, and where it is. */
export function made<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonAnswer(schema, description, { Location });
}

/** A thing that was created, with its entity tag. */
export function madeTagged<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonAnswer(schema, description, { Location, ...withETag });
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

/**
 * 200 with one thing and its entity tag, which a later `If-Match` may name (RFC 9110 §8.8.3).
 * @param version what the tag stands for, when the thing also shows what moves by itself, such as when it was last seen
 */
export function tagged<Thing extends object>(
  thing: Thing,
  version: object = thing,
): Answer<200, Thing, 'etag'> {
  return withTag(ok(thing), version);
}

/** The answer with an entity tag. */
export function withTag<Status extends number, Body, Header extends string>(
  { status, body, headers }: Answer<Status, Body, Header>,
  version: object,
): Answer<Status, Body, Header | 'etag'> {
  return { status, body, headers: { ...headers, etag: tagOf(version) } as Record<Header | 'etag', string> };
}

/**
 * Lets a change through only if it is made to what its caller has seen (RFC 9110 §13.1.1). Call it after the last
 * `await` before the change, so that nothing comes in between.
 * @param thing as it is now, in the shape that `tagged` had for its tag
 * @throws {ApiError} `precondition_failed`
 */
export function checkMatch(request: Request, thing: object): void {
  const wanted = request.header('if-match');
  if (wanted === undefined || wanted.trim() === '*') return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (tags.includes(tagOf(thing))) return;
  throw new ApiError('precondition_failed', changedSince);
}

export const changedSince =
  'It was changed since you read it: read it again, then make your change to what it is now';

function tagOf(thing: object): string {
  return entityTag(JSON.stringify(thing));
}
