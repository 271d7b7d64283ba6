import type { RawRequest, Server } from './bun-request.ts';
import { isPlainPath, wasPlainPath } from './head.ts';

/** Answers a request; `path` is `undefined` if Bun has resolved it to another than the one sent. */
export type Answer = (
  raw: RawRequest,
  server: Server,
  path: string | undefined,
) => Response | Promise<Response>;

/** More than any route has; Bun has no pattern for any number of segments. */
const maxSegments = 12;

/**
 * Bun resolves `\`, `.` and `..` in the URL that a handler receives, but matches its routes first. The match therefore reveals
 * the path as sent. A fixed route matches only its own path, and a pattern captures the path in its parameters.
 */
export function routesFor(fixed: readonly string[], answer: Answer) {
  const routes: Record<string, (raw: Bun.BunRequest, server: Server) => Response | Promise<Response>> = {};
  for (const path of ['/', ...fixed]) routes[path] = (raw, server) => answer(asRaw(raw), server, path);
  let pattern = '';
  for (let segment = 1; segment <= maxSegments; segment += 1) {
    pattern += `/:s${segment}`;
    routes[pattern] = (raw, server) => answer(asRaw(raw), server, sentPath(asRaw(raw)));
  }
  return routes;
}

const asRaw = (raw: unknown) => raw as RawRequest;

/** @returns `undefined` if the URL's path is not the one sent */
function sentPath({ url, params }: RawRequest): string | undefined {
  const path = pathOf(url);
  return wasPlainPath(path, Object.values(params)) ? path : undefined;
}

/**
 * The path of a URL without a matching pattern: a segment is empty, or there are too many. Returns `undefined` if Bun has
 * resolved it.
 */
export function strayPath(url: string): string | undefined {
  const path = pathOf(url);
  const stray = path.includes('//') || path.endsWith('/') || path.split('/').length > maxSegments + 1;
  return stray && isPlainPath(path) ? path : undefined;
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return url.slice(pathStart(url), mark < 0 ? url.length : mark);
}

/** Without a usable Host header Bun returns only the path. `new URL` would cost more than everything else here. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length);
}
