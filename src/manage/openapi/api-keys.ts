import type { Json } from '../../http/openapi/json-schema.ts';
import { newApiKeySchema } from '../api-keys.ts';
import { done, made, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import { asGiven, bodyShape, exampleIds, exampleTime, fields, type Shape, text, time } from './shape.ts';

const properties: Json = {
  clientId: text('The `client_id` of the client credentials grant.'),
  ...asGiven(newApiKeySchema, 'name', 'role'),
  teamId: text('Id of its team.'),
  createdAt: time('When it was made.'),
};

const example = {
  clientId: exampleIds.apiKey,
  name: 'Deployment',
  role: 'User',
  teamId: exampleIds.team,
  createdAt: exampleTime,
};

const apiKey: Shape = { name: 'ApiKey', schema: fields(properties), example };

const shownOnce: Shape = {
  name: 'ApiKeyShownOnce',
  schema: fields({
    ...properties,
    clientSecret: text('The `client_secret`. Keep it now: it is never shown again.'),
  }),
  example: { ...example, clientSecret: `fm_secret_${'0'.repeat(64)}` },
};

const newApiKey = bodyShape('NewApiKey', newApiKeySchema, { name: 'Deployment', role: 'User' });

/** `/teams/{id}/api-keys` and what is below. */
export const apiKeys: Resource = {
  tag: 'API keys',
  words: 'Client credentials of a team, with which programs get tokens for this API.',
  shapes: [apiKey, shownOnce, newApiKey],
  routes: {
    'GET /teams/:id/api-keys': {
      operationId: 'listApiKeys',
      summary: 'List the API keys of a team',
      query: paging,
      answers: { 200: page(apiKey, 'The oldest API key comes first.') },
    },
    'POST /teams/:id/api-keys': {
      operationId: 'createApiKey',
      summary: 'Make an API key',
      description: 'Its role is User unless another is given.',
      body: newApiKey,
      answers: { 201: made(shownOnce, 'The API key with its secret.') },
      refusals: {
        invalid_name:
          'Cannot take the name of an API key: must be 1–256 UTF-8 bytes without control characters',
        plan_limit: 'The plan free allows no more than 3 API keys in a team',
      },
    },
    'DELETE /teams/:id/api-keys/:clientId': {
      operationId: 'deleteApiKey',
      summary: 'Delete an API key',
      description: 'Its tokens are refused from now on.',
      answers: { 204: done('It is deleted.') },
    },
  },
};
