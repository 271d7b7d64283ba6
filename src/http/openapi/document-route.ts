import { entityTag, isTagIn } from '../entity-tag.ts';
import type { Reply, Route } from '../types.ts';
import type { Json } from './json-schema.ts';

/**
 * `GET` of an OpenAPI document, which pages of any origin may read.
 * @param describe makes the document, once, when it is first asked for
 */
export function documentRoute(path: string, describe: () => Promise<Json>): Route {
  let answers: Promise<Answers> | undefined;
  return {
    method: 'GET',
    path,
    async handle(request) {
      answers ??= describe().then(answersOf);
      const { etag, whole, unchanged } = await answers;
      return isTagIn(etag, request.header('if-none-match')) ? unchanged : whole;
    },
  };
}

interface Answers {
  readonly etag: string;
  readonly whole: Reply;
  readonly unchanged: Reply;
}

function answersOf(document: Json): Answers {
  const body = JSON.stringify(document);
  const etag = entityTag(body);
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300', etag };
  return {
    etag,
    whole: { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body },
    unchanged: { status: 304, headers },
  };
}

const headers = {
  'Access-Control-Allow-Origin': { required: true, schema: { const: '*' } },
  'Cache-Control': { required: true, schema: { type: 'string' } },
  ETag: { required: true, schema: { type: 'string' } },
};

const openApiDocument = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  additionalProperties: true,
};

/** What an OpenAPI document says of its own path. @param tag of the operation */
export function documentPath(tag: string): Json {
  return {
    get: {
      operationId: 'describe',
      tags: [tag],
      summary: 'This document; pages of any origin may read it',
      security: [],
      parameters: [
        {
          name: 'If-None-Match',
          in: 'header',
          description: 'An `ETag` that the caller has the document of.',
          schema: { type: 'string' },
        },
      ],
      responses: {
        200: {
          description: 'The document.',
          headers,
          content: {
            'application/json': { schema: openApiDocument },
          },
        },
        304: { description: 'The caller has it already.', headers },
      },
    },
  };
}
