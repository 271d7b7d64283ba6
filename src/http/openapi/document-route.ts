import { publicJson } from '../public-json.ts';
import type { Route } from '../types.ts';
import type { Json } from './json-schema.ts';

const caching = { contentType: 'application/json', maxAgeSeconds: 300 };

/**
 * `GET` of an OpenAPI document, which pages of any origin may read.
 * @param describe makes the document, once, when it is first asked for
 */
export function documentRoute(path: string, describe: () => Promise<Json>): Route {
  let answer: Promise<ReturnType<typeof publicJson>> | undefined;
  return {
    method: 'GET',
    path,
    async handle(request) {
      answer ??= describe().then((document) => publicJson(document, caching));
      return (await answer)(request);
    },
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
