import { createHash } from 'node:crypto';
import type { Reply, Route } from '../http/types.ts';
import { type DocumentSettings, describeMetricsHost } from './openapi/document.ts';

/** `GET /swagger/v2/swagger.json`: the document is made once; pages of any origin may read it. */
export function openapiRoutes(settings: DocumentSettings): readonly Route[] {
  const body = JSON.stringify(describeMetricsHost(settings));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300', etag };
  const whole: Reply = { status: 200, headers: { ...headers, 'content-type': 'application/json' }, body };
  const unchanged: Reply = { status: 304, headers };
  return [
    {
      method: 'GET',
      path: '/swagger/v2/swagger.json',
      handle: (request) => (isOneOf(etag, request.header('if-none-match')) ? unchanged : whole),
    },
  ];
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2): a proxy that compresses marks the tag as weak. */
function isOneOf(etag: string, header: string | undefined): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
