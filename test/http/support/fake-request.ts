import type { Request } from '../../../src/http/types.ts';

/** Creates a request that does not come from an HTTP engine. */
export function fakeRequest(
  parts: Partial<Pick<Request, 'method' | 'path' | 'query'>> & {
    headers?: Readonly<Record<string, string>>;
    body?: Uint8Array;
  },
): Request {
  const { headers = {}, body = new Uint8Array() } = parts;
  return {
    method: parts.method ?? 'POST',
    path: parts.path ?? '/',
    query: parts.query ?? '',
    remoteAddress: '192.0.2.1',
    header: (name) => headers[name],
    headers: () => Object.entries(headers),
    body: () => Promise.resolve(body),
  };
}
