import { Refusal } from '../contract/errors.ts';
import { problem } from './responses.ts';
import type { HttpResponse, Route } from './types.ts';

const requestHeaders = 'authorization, content-type, if-match';
const exposed = 'etag, location, retry-after, www-authenticate';

/**
 * Allows pages of other origins to call these routes without cookies, and to read the responses, including refusals.
 * @param allows returns true if pages of an origin may call the routes
 */
export function crossOrigin(routes: readonly Route[], allows: (origin: string) => boolean): readonly Route[] {
  const methods = new Map<string, Route[]>();
  for (const route of routes) {
    const shape = route.path.replace(/:[^/]+/g, ':');
    methods.set(shape, [...(methods.get(shape) ?? []), route]);
  }
  const preflights = Array.from(methods.values(), (group) => createPreflight(group, allows));
  return [...routes.map((route) => ({ ...route, handle: readable(route.handle, allows) })), ...preflights];
}

function createPreflight(group: readonly Route[], allows: (origin: string) => boolean): Route {
  const allow = [...group.map(({ method }) => method), 'OPTIONS'].join(', ');
  return {
    method: 'OPTIONS',
    path: group[0]!.path,
    handle(request) {
      const origin = request.header('origin');
      const headers = { allow, vary: 'Origin' };
      if (origin === undefined || !allows(origin)) return { status: 204, headers };
      return {
        status: 204,
        headers: {
          ...headers,
          'access-control-allow-origin': origin,
          'access-control-allow-methods': allow,
          'access-control-allow-headers': requestHeaders,
          'access-control-max-age': '7200',
        },
      };
    },
  };
}

function readable(handle: Route['handle'], allows: (origin: string) => boolean): Route['handle'] {
  return (request, params) => {
    const origin = request.header('origin');
    if (origin === undefined || !allows(origin)) return handle(request, params);
    return respondTo(origin, () => handle(request, params));
  };
}

async function respondTo(origin: string, handle: () => HttpResponse | Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await settle(handle);
  const headers = { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'Origin' };
  return { ...response, headers: { ...response.headers, ...headers } };
}

async function settle(handle: () => HttpResponse | Promise<HttpResponse>): Promise<HttpResponse> {
  try {
    return await handle();
  } catch (error) {
    if (error instanceof Refusal) return problem(error);
    throw error;
  }
}
