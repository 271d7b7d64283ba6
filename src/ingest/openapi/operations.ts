import type { Json } from './json-schema.ts';

/** `/healthz`. */
export const healthPath: Json = {
  get: {
    operationId: 'isAlive',
    tags: ['Operations'],
    summary: 'Whether the process is alive',
    security: [],
    responses: { 200: { description: 'It is.', content: status('alive', {}, { status: 'alive' }) } },
  },
};

const readiness = {
  reason: { type: 'string', description: 'Why not, for a person; empty when ready.' },
  commits: { type: 'integer', minimum: 0, description: 'Batches committed since the start.' },
};

/** `/readyz`. */
export const readyPath: Json = {
  get: {
    operationId: 'isReady',
    tags: ['Operations'],
    summary: 'Whether the service can take data',
    security: [],
    responses: {
      200: {
        description: 'It can.',
        content: status('ready', readiness, { status: 'ready', reason: '', commits: 0 }),
      },
      503: {
        description: 'It cannot, for now: the store takes nothing, or too much is waiting for the disk.',
        headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
        content: status('unavailable', readiness, {
          status: 'unavailable',
          reason: 'too much is waiting for the disk',
          commits: 0,
        }),
      },
    },
  },
};

function status(word: string, more: Json, example: Json): Json {
  const properties = { status: { const: word }, ...more };
  const schema = { type: 'object', required: Object.keys(properties), properties };
  return { 'application/json': { schema, example } };
}

const documentHeaders = {
  'Access-Control-Allow-Origin': { required: true, schema: { const: '*' } },
  'Cache-Control': { required: true, schema: { type: 'string' } },
  ETag: { required: true, schema: { type: 'string' } },
};

/** `/swagger/v2/swagger.json`. */
export const documentPath: Json = {
  get: {
    operationId: 'describe',
    tags: ['Operations'],
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
        headers: documentHeaders,
        content: {
          'application/json': { schema: { type: 'object', required: ['openapi', 'info', 'paths'] } },
        },
      },
      304: { description: 'The caller has it already.', headers: documentHeaders },
    },
  },
};
