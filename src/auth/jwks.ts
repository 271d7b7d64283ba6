import { entityTag, isTagIn } from '../http/entity-tag.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { publishedAheadSeconds, type SigningKeys } from './signing-keys.ts';

/** `GET /.well-known/jwks.json`: the public keys that our tokens are verified with (RFC 7517 §5). */
export function jwksRoutes(keys: SigningKeys): readonly Route[] {
  let published: SigningKeys['published'] | undefined;
  let whole: Reply = { status: 200 };
  let unchanged: Reply = { status: 304 };

  function answer(request: Request): Reply {
    if (published !== keys.published) {
      published = keys.published;
      const body = JSON.stringify({ keys: published });
      const etag = entityTag(body);
      const headers = {
        // A new key is published for so long before it signs, so what a cache has kept knows it.
        'cache-control': `public, max-age=${publishedAheadSeconds}`,
        'access-control-allow-origin': '*',
        etag,
      };
      whole = { status: 200, headers: { ...headers, 'content-type': 'application/jwk-set+json' }, body };
      unchanged = { status: 304, headers };
    }
    const etag = whole.headers?.['etag'] ?? '';
    return isTagIn(etag, request.header('if-none-match')) ? unchanged : whole;
  }

  return [{ method: 'GET', path: '/.well-known/jwks.json', handle: answer }];
}
