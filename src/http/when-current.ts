import { Refusal } from '../contract/errors.ts';
import type { HttpResponse, Route } from './types.ts';

/** Source of the data that responses contain. */
interface Currency {
  /**
   * Resolves when the data is current; `undefined` if the data is always current.
   * @throws {Refusal} if the data cannot be brought up to date
   */
  current(): Promise<void> | undefined;
}

/**
 * Returns routes whose responses reflect every change made before the request. Preflights never wait.
 * @param refuse returns the response if the data cannot be brought up to date
 */
export function whenCurrent(
  routes: readonly Route[],
  source: Currency,
  refuse: (refusal: Refusal, route: Route) => HttpResponse,
): readonly Route[] {
  return routes.map((route) => (route.method === 'OPTIONS' ? route : waiting(route, source, refuse)));
}

function waiting(route: Route, source: Currency, refuse: (refusal: Refusal, route: Route) => HttpResponse): Route {
  const refused = (error: unknown) => {
    if (error instanceof Refusal) return refuse(error, route);
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
