import { type Endpoint, type Json, type Operation, TaggedHeaders } from '../endpoint.ts';
import { publicJson } from '../entity-tag.ts';

const caching = { contentType: 'application/json', maxAgeSeconds: 300 };

/** Declares `GET` of an OpenAPI document. @param describe called once, on the first request */
export function documentEndpoint<Settings>(path: string, describe: (settings: Settings) => Json): Endpoint<Settings> {
  return {
    method: 'GET',
    path,
    access: { credential: 'None', who: 'Everybody' },
    operation,
    bind: (settings) => {
      let respond: ReturnType<typeof publicJson> | undefined;
      return (request) => {
        respond ??= publicJson(describe(settings), caching);
        return respond(request);
      };
    },
  };
}

const openApiDocument = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  additionalProperties: true,
};

const operation: Operation = {
  operationId: 'describe',
  summary: 'Read this document',
  description: 'Pages of any origin may read it.',
  security: [],
  parameters: [
    {
      name: 'If-None-Match',
      in: 'header',
      description: 'The `ETag` of the cached document.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: {
      description: 'The document.',
      headers: TaggedHeaders,
      content: { 'application/json': { schema: openApiDocument } },
    },
    304: { description: 'The cached document is current.', headers: TaggedHeaders },
  },
};
