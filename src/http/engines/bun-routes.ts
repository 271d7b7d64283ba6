import type { RawRequest, Server } from './bun-request.ts';
import { isPlainPath, wasPlainPath } from './plain-path.ts';

/** Answers a request; `path` is `undefined` when Bun has resolved it, so that it is not the path as sent. */
export type Answer = (
  raw: RawRequest,
  server: Server,
  path: string | undefined,
) => Response | Promise<Response>;

/** More than any route has; Bun has no pattern for any number of segments. */
const maxSegments = 12;

/**
 * Bun resolves `\`, `.` and `..` in the URL that a handler sees, but matches its routes before that. So the match shows the
 * path as sent: that of a fixed route is the route's own, that of a pattern is in its parameters.
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

/** @returns `undefined` when the URL's path is not the one that was sent */
function sentPath({ url, params }: RawRequest): string | undefined {
  const path = pathOf(url);
  return wasPlainPath(path, Object.values(params)) ? path : undefined;
}

/** The path of a URL that matches no pattern, because a segment is empty or there are too many; `undefined` when Bun has resolved it. */
export function strayPath(url: string): string | undefined {
  const path = pathOf(url);
  const stray = path.includes('//') || path.endsWith('/') || path.split('/').length > maxSegments + 1;
  return stray && isPlainPath(path) ? path : undefined;
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return url.slice(pathStart(url), mark < 0 ? url.length : mark);
}

/** Without a usable Host header Bun gives the path alone. `new URL` would cost more than everything else here. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', 'https://'.length);
}
