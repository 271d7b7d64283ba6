import type { Dispatch, Reply } from './types.ts';

/** Requests answered per turn of the event loop: a few milliseconds of work. */
const maxReplies = 512;

/**
 * Answers at most `max` requests in the turn of the event loop in which they arrive, and the others in the next. While more
 * than 1 024 sockets are ready, both runtimes keep reading, up to 48 times in one turn. Meanwhile no timer fires and no message
 * from another thread arrives. Clients that send again immediately could keep a turn going for a second. A deferred reply
 * limits a connection to one request per turn.
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
