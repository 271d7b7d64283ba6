import { headerNamed } from '../../http/openapi/headers.ts';
import type { Json } from '../../http/openapi/json-schema.ts';
import { refusalResponses } from '../../http/openapi/refusals.ts';
import { fields, text } from './shape.ts';

const schema = fields({
  error: { const: 'invalid_token' },
  error_description: text('What is wrong, for people.'),
});

function refusal(description: string, example: string, headers: Json = {}): Json {
  const value = { error: 'invalid_token', error_description: example };
  const json = { 'application/json': { schema, example: value } };
  return { description, headers: { ...headers, 'Cache-Control': headerNamed('NotCached') }, content: json };
}

/** `/api/account/invalidate-token`. */
export const invalidateTokenPath: Json = {
  post: {
    operationId: 'invalidateToken',
    tags: ['Tokens'],
    summary: 'Sign out: make an access token invalid',
    description:
      'The token is the whole request. It is refused from the next request on, and its session ends with its refresh token. Any scope will do.',
    security: [{ oauth2: [] }],
    responses: {
      200: {
        description: 'It is invalid, and on disk.',
        headers: { 'Cache-Control': headerNamed('NotCached') },
        content: {
          'application/json': {
            schema: fields({ message: text('That it is done, for people.') }),
            example: { message: 'The token is no longer valid' },
          },
        },
      },
      400: refusal('The token is not a well-formed JWT.', 'The token is not a well-formed JWT'),
      401: refusal('No token came, or it is not valid any more.', 'No bearer token is provided', {
        'WWW-Authenticate': headerNamed('Challenge'),
      }),
      ...refusalResponses({ store_unavailable: 'The store cannot take the change; nothing of it was kept' }),
    },
  },
};
