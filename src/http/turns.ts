import type { Dispatch, Reply } from './types.ts';

/** Requests that are answered in the turn of the event loop that brings them: some milliseconds of work. */
const maxReplies = 512;

/**
 * Answers at most `max` requests in the turn of the event loop that brings them, and the others in the next. Both runtimes
 * go on reading while more than 1 024 sockets are ready, up to 48 times in one turn, and meanwhile no timer fires and no
 * message of another thread is delivered. Clients that send again as soon as they are answered would keep a turn going
 * for a second; a deferred reply keeps a connection to one request a turn.
 * @param nextTurn calls back in the next turn
 */
export function inTurns(
  dispatch: Dispatch,
  max = maxReplies,
  nextTurn: (callback: () => void) => unknown = setImmediate,
): Dispatch {
  let begun = 0;
  let next: Promise<void> | undefined;
  let turn = () => {};

  function endTurn(): void {
    begun = 0;
    next = undefined;
    turn();
  }

  function late(reply: Reply | Promise<Reply>): Promise<Reply> {
    next ??= new Promise((resolve) => {
      turn = resolve;
    });
    return next.then(() => reply);
  }

  return (request) => {
    if (begun === 0) nextTurn(endTurn);
    begun += 1;
    const reply = dispatch(request);
    return begun <= max ? reply : late(reply);
  };
}
