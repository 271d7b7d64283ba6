import { headerNamed } from '../http/openapi/headers.ts';
import type { Json } from '../http/openapi/json-schema.ts';

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
        headers: { 'Retry-After': headerNamed('RetryAfter') },
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
