import type { Dispatch, HttpResponse } from './types.ts';

/** Requests answered per turn of the event loop: a few milliseconds of work. */
const maxResponses = 512;

/**
 * Answers at most `max` requests in the turn of the event loop in which they arrive, and the others in the next. While more
 * than 1 024 sockets are ready, both runtimes keep reading, up to 48 times in one turn. Meanwhile no timer fires and no message
 * from another thread arrives. Clients that send again immediately could keep a turn going for a second. A deferred reply
 * limits a connection to one request per turn.
 * @param nextTurn calls back in the next turn
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
