import { ApiError } from '../contract/errors.ts';
import type { Reply, Route } from './types.ts';

/** The source of the data behind answers. */
interface Currency {
  /** Resolves when the data is current; `undefined` if it always is. @throws {ApiError} if that cannot be determined */
  current(): Promise<void> | undefined;
}

/**
 * Routes whose answers must reflect every change made before their request. A preflight reads nothing, and does not wait.
 * @param refuse the reply if the data cannot be made current
 */
export function whenCurrent(
  routes: readonly Route[],
  source: Currency,
  refuse: (refusal: ApiError, route: Route) => Reply,
): readonly Route[] {
  return routes.map((route) => (route.method === 'OPTIONS' ? route : waiting(route, source, refuse)));
}

function waiting(route: Route, source: Currency, refuse: (refusal: ApiError, route: Route) => Reply): Route {
  const refused = (error: unknown) => {
    if (error instanceof ApiError) return refuse(error, route);
    throw error;
  };
  return {
    ...route,
    handle(request, params) {
      const wait = source.current();
      return wait === undefined
        ? route.handle(request, params)
        : wait.then(() => route.handle(request, params), refused);
    },
  };
}
