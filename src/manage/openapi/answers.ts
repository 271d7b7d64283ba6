import { headerNamed } from '../../http/openapi/headers.ts';
import type { Json } from '../../http/openapi/json-schema.ts';
import { fields, listOf, referTo, type Shape } from './shape.ts';

const entityTag = { type: 'string', pattern: '^"[\\w-]{22}"$' };

/** Headers that answers have: `components.headers` of the document. */
export const answerHeaders = {
  NotCached: {
    description: 'What belongs to one caller is kept by no cache.',
    required: true,
    schema: { const: 'no-store' },
  },
  EntityTag: {
    description: 'Stands for what the answer shows: a later change may name it in `If-Match`.',
    required: true,
    schema: entityTag,
  },
  EntityTagOfUser: {
    description: 'The same, of a user. An API key has none.',
    schema: entityTag,
  },
  Location: { description: 'Where the thing is.', required: true, schema: { type: 'string' } },
  Challenge: {
    description: 'Names an error only when a token came (RFC 6750 §3).',
    required: true,
    schema: { enum: ['Bearer', 'Bearer error="invalid_token"'] },
  },
} as const;

type Tag = 'EntityTag' | 'EntityTagOfUser';

const notCached = { 'Cache-Control': headerNamed('NotCached') };

/** One thing. @param tag the header `ETag`, when it comes with one */
export function one(shape: Shape, description: string, tag?: Tag): Json {
  return answer(description, tag, referTo(shape), shape.example);
}

/** A thing that was made, and where it is. */
export function made(shape: Shape, description: string, tag?: Tag): Json {
  const shown = answer(description, tag, referTo(shape), shape.example);
  return { ...shown, headers: { ...(shown['headers'] as Json), Location: headerNamed('Location') } };
}

/** A page of a list. */
export function page(shape: Shape, order: string): Json {
  const schema = fields({ items: listOf(referTo(shape)), nextCursor });
  return answer(`A page of the list. ${order}`, undefined, schema, {
    items: [shape.example],
    nextCursor: null,
  });
}

/** Nothing but that it is done. */
export function done(description: string): Json {
  return { description, headers: notCached };
}

function answer(description: string, tag: Tag | undefined, schema: Json, example: unknown): Json {
  const headers = tag === undefined ? notCached : { ...notCached, ETag: headerNamed(tag) };
  return { description, headers, content: { 'application/json': { schema, example } } };
}

const nextCursor = {
  type: ['string', 'null'],
  description: 'What `cursor` is to be for the next page; `null` on the last one.',
};
