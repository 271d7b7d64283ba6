import { createHash } from 'node:crypto';
import type { HttpResponse, Request } from './types.ts';

/** Returns the strong entity tag of a text (RFC 9110 §8.8.3). @param parts chunks of the text, in order */
export function entityTag(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

/**
 * True if `If-None-Match` lists a tag, even as a weak tag (RFC 9110 §13.1.2), because compressing proxies weaken tags.
 */
export function isTagIn(etag: string, header: string | undefined): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}

interface PublicJsonOptions {
  readonly contentType: string;
  readonly maxAgeSeconds: number;
}

/** Returns a handler that responds with 304 if `If-None-Match` lists the document's tag (RFC 9110 §15.4.5). */
export function publicJson(
  document: unknown,
  { contentType, maxAgeSeconds }: PublicJsonOptions,
): (request: Request) => HttpResponse {
  const body = JSON.stringify(document);
  const etag = entityTag(body);
  const headers = { 'access-control-allow-origin': '*', 'cache-control': `public, max-age=${maxAgeSeconds}`, etag };
  const whole: HttpResponse = { status: 200, headers: { ...headers, 'content-type': contentType }, body };
  const unchanged: HttpResponse = { status: 304, headers };
  return (request) => (isTagIn(etag, request.header('if-none-match')) ? unchanged : whole);
}
