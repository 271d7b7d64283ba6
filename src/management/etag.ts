import { ApiError } from '../contract/errors.ts';
import { type Answer, ok } from '../http/answer.ts';
import { entityTag } from '../http/entity-tag.ts';
import type { Request } from '../http/types.ts';

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
