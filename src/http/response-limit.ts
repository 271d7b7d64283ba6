import type { Dispatch, HttpResponse } from './types.ts';

/** Maximum number of requests handled per event loop iteration: a few milliseconds of work. */
const maxResponses = 512;

/**
 * Responds to at most `max` requests per event loop iteration, and defers excess requests to the next iteration. During
 * an iteration, no timer fires and no message of another thread arrives. Both runtimes read up to 48 times in one
 * iteration while more than 1 024 sockets are ready. Clients that send again immediately could therefore prolong an
 * iteration to a second. A client whose response is deferred cannot send again in the same iteration.
 * @param nextTurn calls its callback in the next iteration
 */
export function limitPerTurn(
  dispatch: Dispatch,
  max = maxResponses,
  nextTurn: (callback: () => void) => unknown = setImmediate,
): Dispatch {
  let begun = 0;
  let next: Promise<void> | undefined;
  let resume = () => {};

  function endTurn(): void {
    begun = 0;
    next = undefined;
    resume();
  }

  function late(response: HttpResponse | Promise<HttpResponse>): Promise<HttpResponse> {
    next ??= new Promise((resolve) => {
      resume = resolve;
    });
    return next.then(() => response);
  }

  return (request) => {
    if (begun === 0) nextTurn(endTurn);
    begun += 1;
    const response = dispatch(request);
    return begun <= max ? response : late(response);
  };
}
