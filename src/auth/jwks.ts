import type { Route } from '../http/types.ts';
import type { SigningKeys } from './signing-keys.ts';

/** `GET /.well-known/jwks.json`: the public keys that our tokens are verified with (RFC 7517 §5). */
export function jwksRoutes(keys: SigningKeys): readonly Route[] {
  const headers = {
    'content-type': 'application/jwk-set+json',
    // A new key signs as soon as it is there: what a cache has kept would not know it.
    'cache-control': 'no-cache',
    'access-control-allow-origin': '*',
  };
  return [
    {
      method: 'GET',
      path: '/.well-known/jwks.json',
      handle: () => ({ status: 200, headers, body: JSON.stringify({ keys: keys.published }) }),
    },
  ];
}
