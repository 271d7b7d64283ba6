import type { Json } from '../../http/openapi/json-schema.ts';
import { newClientSchema } from '../clients.ts';
import { done, made, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import { asGiven, bodyShape, exampleIds, exampleTime, fields, type Shape, text, time } from './shape.ts';

const properties: Json = {
  clientId: text('The `client_id` of the authorization code grant.'),
  ...asGiven(newClientSchema, 'name', 'type', 'redirectUris'),
  teamId: text('Id of its team, whose members may sign in to it.'),
  createdAt: time('When it was made.'),
};

const example = {
  clientId: exampleIds.client,
  name: 'Extension',
  type: 'public',
  teamId: exampleIds.team,
  redirectUris: ['com.example.extension:/callback'],
  createdAt: exampleTime,
};

const client: Shape = { name: 'SignInClient', schema: fields(properties), example };

const shownOnce: Shape = {
  name: 'SignInClientShownOnce',
  schema: fields(
    {
      ...properties,
      clientSecret: text('The secret of a confidential client. Keep it now: it is never shown again.'),
    },
    ['clientSecret'],
  ),
  example,
};

const newClient = bodyShape('NewSignInClient', newClientSchema, {
  name: 'Extension',
  type: 'public',
  redirectUris: ['com.example.extension:/callback'],
});

/** `/teams/{id}/clients` and what is below. */
export const clients: Resource = {
  tag: 'Sign-in clients',
  words: 'Programs that the members of a team sign in to, with the authorization code grant and PKCE.',
  shapes: [client, shownOnce, newClient],
  routes: {
    'GET /teams/:id/clients': {
      operationId: 'listClients',
      summary: 'List the sign-in clients of a team',
      query: paging,
      answers: { 200: page(client, 'The oldest client comes first.') },
    },
    'POST /teams/:id/clients': {
      operationId: 'createClient',
      summary: 'Register a sign-in client',
      body: newClient,
      answers: { 201: made(shownOnce, 'The client, with its secret when it has one.') },
      refusals: {
        invalid_name:
          'Cannot take the name of a sign-in client: must be 1–256 UTF-8 bytes without control characters',
        plan_limit: 'The plan free allows no more than 3 sign-in clients in a team',
      },
    },
    'DELETE /teams/:id/clients/:clientId': {
      operationId: 'deleteClient',
      summary: 'Delete a sign-in client',
      description: 'Nobody can sign in to it any more, and the tokens of those who have are refused.',
      answers: { 204: done('It is deleted.') },
    },
  },
};
