import { publicJson } from '../http/public-json.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { publishedAheadSeconds, type SigningKeys } from './signing-keys.ts';

/** A new key is published for so long before it signs, so what a cache has kept knows it. */
const caching = { contentType: 'application/jwk-set+json', maxAgeSeconds: publishedAheadSeconds };

/** `GET /.well-known/jwks.json`: the public keys that our tokens are verified with (RFC 7517 §5). */
export function jwksRoutes(keys: SigningKeys): readonly Route[] {
  let published = keys.published;
  let answer = publicJson({ keys: published }, caching);

  function handle(request: Request): Reply {
    if (published !== keys.published) {
      published = keys.published;
      answer = publicJson({ keys: published }, caching);
    }
    return answer(request);
  }

  return [{ method: 'GET', path: '/.well-known/jwks.json', handle }];
}
