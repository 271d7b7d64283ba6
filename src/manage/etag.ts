import { ApiError } from '../errors.ts';
import { entityTag } from '../http/entity-tag.ts';
import type { Reply, Request } from '../http/types.ts';
import { ok } from './answers.ts';

/**
 * 200 with one thing and its entity tag, which a later `If-Match` can name (RFC 9110 §8.8.3).
 * @param version what of it the tag stands for, when it also shows what nobody changes, such as a time that moves by itself
 */
export function tagged(thing: object, version = thing): Reply {
  return withTag(ok(thing), version);
}

/** The reply with an entity tag for what it shows. */
export function withTag(reply: Reply, version: object): Reply {
  return { ...reply, headers: { ...reply.headers, etag: tagOf(version) } };
}

/**
 * Lets a change through only when it is made to what its caller has seen (RFC 9110 §13.1.1). Call it after the last
 * `await` before the change: nothing may come in between.
 * @param thing as it is now, in the shape that `tagged` had for its tag
 * @throws {ApiError} `precondition_failed`
 */
export function checkMatch(request: Request, thing: object): void {
  const wanted = request.header('if-match');
  if (wanted === undefined || wanted.trim() === '*') return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (tags.includes(tagOf(thing))) return;
  throw new ApiError(
    'precondition_failed',
    'It was changed since you read it: read it again, then make your change to what it is now',
  );
}

function tagOf(thing: object): string {
  return entityTag(JSON.stringify(thing));
}
