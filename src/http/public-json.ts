import { entityTag, isTagIn } from './entity-tag.ts';
import type { Reply, Request } from './types.ts';

export interface PublicJsonOptions {
  readonly contentType: string;
  readonly maxAgeSeconds: number;
}

/**
 * A cacheable JSON document that pages of any origin may read.
 * @returns the handler, which answers 304 if `If-None-Match` lists the document's tag (RFC 9110 §15.4.5)
 */
export function publicJson(
  document: unknown,
  { contentType, maxAgeSeconds }: PublicJsonOptions,
): (request: Request) => Reply {
  const body = JSON.stringify(document);
  const etag = entityTag(body);
  const headers = {
    'access-control-allow-origin': '*',
    'cache-control': `public, max-age=${maxAgeSeconds}`,
    etag,
  };
  const whole: Reply = { status: 200, headers: { ...headers, 'content-type': contentType }, body };
  const unchanged: Reply = { status: 304, headers };
  return (request) => (isTagIn(etag, request.header('if-none-match')) ? unchanged : whole);
}
