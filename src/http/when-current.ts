import { ApiError } from '../contract/errors.ts';
import type { Reply, Route } from './types.ts';

/** Tells whether what answers are made of is as of now. */
export interface Currency {
  /**
   * Resolves when it is; `undefined` when that is always so.
   * @throws {ApiError} when that cannot be known
   */
  current(): Promise<void> | undefined;
}

/**
 * Routes whose answers must hold when their request arrived: each request waits until what they read is as of now. Where that
 * is always so, nothing waits. A preflight reads nothing.
 * @param refuse the reply when that cannot be known
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
