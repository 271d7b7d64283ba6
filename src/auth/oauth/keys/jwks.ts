import Type from 'typebox';
import { listOf } from '../../../contract/shapes/fields.ts';
import { type Endpoint, TaggedHeaders } from '../../../http/endpoint.ts';
import { publicJson } from '../../../http/entity-tag.ts';
import type { Handler } from '../../../http/types.ts';
import { type PublicJwk, publishedAheadSeconds, type SigningKeys } from './signing-keys.ts';

/** How long a new key is published before it signs, so that caches have it by then. */
const caching = { contentType: 'application/jwk-set+json', maxAgeSeconds: publishedAheadSeconds };

const Key = Type.Unsafe<PublicJwk>({
  type: 'object',
  required: ['kid', 'kty', 'alg', 'use'],
  properties: {
    kid: { type: 'string', description: 'Id of the key.' },
    kty: { type: 'string' },
    alg: { type: 'string' },
    use: { const: 'sig' },
    ...Object.fromEntries(['crv', 'x', 'y', 'n', 'e'].map((name) => [name, { type: 'string' }])),
  },
});
const KeySet = Type.Object({ keys: listOf(Key) }, { component: 'KeySet' });

/** `GET /.well-known/jwks.json`: the public keys that access tokens and ID tokens are verified with (RFC 7517 §5). */
export const jwksEndpoint: Endpoint<{ readonly keys: SigningKeys }> = {
  method: 'GET',
  path: '/.well-known/jwks.json',
  access: { credential: 'None', who: 'Everybody' },
  operation: {
    operationId: 'getKeys',
    summary: 'Read the public keys that tokens are verified with',
    security: [],
    answers: {
      200: {
        description: 'The keys.',
        headers: TaggedHeaders,
        content: { [caching.contentType]: { schema: KeySet } },
      },
      304: { description: 'The cached copy is current.', headers: TaggedHeaders },
    },
  },
  bind: ({ keys }) => showKeys(keys),
};

function showKeys(keys: SigningKeys): Handler {
  const answerWith = (published: SigningKeys['published']) => publicJson({ keys: published }, caching);
  let { published } = keys;
  let answer = answerWith(published);
  return (request) => {
    if (published !== keys.published) {
      published = keys.published;
      answer = answerWith(published);
    }
    return answer(request);
  };
}
