import { createHash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import type { Reply, Request } from '../http/types.ts';
import { ok } from './answers.ts';

/** 200 with one thing and its entity tag, which a later `If-Match` can name (RFC 9110 §8.8.3). */
export function tagged(thing: object): Reply {
  const reply = ok(thing);
  return { ...reply, headers: { ...reply.headers, etag: tagOf(thing) } };
}

/**
 * Lets a change through only when it is made to what its caller has seen (RFC 9110 §13.1.1). Call it after the last
 * `await` before the change: nothing may come in between.
 * @param thing as it is now, in the shape that `tagged` showed
 * @throws {Refusal} `precondition_failed`
 */
export function checkMatch(request: Request, thing: object): void {
  const wanted = request.header('if-match');
  if (wanted === undefined || wanted.trim() === '*') return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (tags.includes(tagOf(thing))) return;
  throw new Refusal(
    'precondition_failed',
    'It was changed since you read it: read it again, then make your change to what it is now',
  );
}

function tagOf(thing: object): string {
  return `"${createHash('sha256').update(JSON.stringify(thing)).digest('base64url').slice(0, 22)}"`;
}
