import { entityTag, isTagIn } from '../entity-tag.ts';
import type { Reply, Route } from '../types.ts';
import type { Json } from './json-schema.ts';

/** `GET` of an OpenAPI document, whose JSON is made once; pages of any origin may read it. */
export function documentRoute(path: string, document: Json): Route {
  const body = JSON.stringify(document);
  const etag = entityTag(body);
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300', etag };
  const whole: Reply = { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body };
  const unchanged: Reply = { status: 304, headers };
  return {
    method: 'GET',
    path,
    handle: (request) => (isTagIn(etag, request.header('if-none-match')) ? unchanged : whole),
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
