import Type from 'typebox';
import { expect, expectTypeOf, test } from 'vitest';
import { bodyShape, count, shape, text } from '../../src/contract/shapes/fields.ts';
import { jsonResponse, type Refusals } from '../../src/http/endpoint.ts';
import { noContent, ok } from '../../src/http/responses.ts';
import { endpoint } from '../../src/management/endpoint.ts';
import { created, done, made, oneTagged, tagged } from '../../src/management/responses.ts';

/**
 * Type tests of handlers. An `@ts-expect-error` above a line that compiles is itself an error, so these tests fail in
 * `npm run lint`.
 */

const Thing = shape('Thing', { id: text('Its id.'), size: count('Its size.') }, { id: 'a', size: 1 });
const NewThing = bodyShape('NewThing', { size: Type.Optional(count('Its size.')) }, { size: 1 });

const words = { operationId: 'x', summary: 'x', access: { within: 'team', least: 'User' } } as const;

test('the parameters of a handler have the types of its path, access, query and body', () => {
  const { path } = endpoint('POST /teams/:id/things/:name', {
    ...words,
    query: { limit: Type.Integer({ default: 1 }), only: Type.Optional(text('Only this.')) },
    body: NewThing,
    responses: { 200: jsonResponse(Thing, 'The thing.') },
    handle({ params, team, query, body }) {
      expectTypeOf(params).toEqualTypeOf<Readonly<Record<'id' | 'name', string>>>();
      expectTypeOf(query).toEqualTypeOf<{ limit: number; only?: string }>();
      expectTypeOf(body).toEqualTypeOf<{ size?: number }>();
      return ok({ id: `${team.id}/${params.name}`, size: body.size ?? query.limit });
    },
  });
  expect(path).toBe('/api/v2/teams/:id/things/:name');
});

test('a handler that returns an undeclared shape or status, or omits a declared header, does not compile', () => {
  const responses = { 200: jsonResponse(Thing, 'The thing.') };
  const thing = { id: 'a', size: 1 };
  // @ts-expect-error: a field is missing
  endpoint('GET /teams/:id', { ...words, responses, handle: () => ok({ id: 'a' }) });
  // @ts-expect-error: a field has another type
  endpoint('GET /teams/:id', { ...words, responses, handle: async () => ok({ id: 'a', size: 'large' }) });
  // @ts-expect-error: the status is not declared
  endpoint('GET /teams/:id', { ...words, responses, handle: () => created(['x'], thing) });
  // @ts-expect-error: the handler returns nothing, and 204 is not declared
  endpoint('GET /teams/:id', { ...words, responses, handle: async () => {} });
  const tagDeclared = { 200: oneTagged(Thing, 'The thing.') };
  // @ts-expect-error: the entity tag is missing
  endpoint('GET /teams/:id', { ...words, responses: tagDeclared, handle: () => ok(thing) });
  // @ts-expect-error: the contract does not have this refusal
  const refuses: Refusals = { out_of_tea: 'There is no tea' };
  endpoint('GET /teams/:id', { ...words, responses, refuses, handle: () => ok(thing) });
  // @ts-expect-error: the path has no such parameter
  endpoint('GET /teams/:id', { ...words, responses, handle: ({ params }) => ok({ id: params.name, size: 1 }) });
});

test('a handler can return each declared response', () => {
  const thing = { id: 'a', size: 1 };
  const responses = { 200: oneTagged(Thing, 'x'), 201: made(Thing, 'x'), 204: done('x') };
  const { method } = endpoint('PUT /teams/:id', {
    ...words,
    responses,
    async handle({ request }) {
      if (request.query === 'new') return created(['things', 'a'], thing);
      return request.query === '' ? noContent : tagged(thing);
    },
  });
  expect(method).toBe('PUT');
});
