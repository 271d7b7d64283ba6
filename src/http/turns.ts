import type { Dispatch, Reply } from './types.ts';

/** Requests of one turn of the event loop that are answered in it: some milliseconds of work. */
const mostReplies = 512;

/**
 * Lets the replies to what a turn of the event loop brings above `most` requests wait for the next turn. Both runtimes go
 * on reading while more than 1 024 sockets are ready, up to 48 times in one turn, and meanwhile no timer fires and no
 * other thread is heard. Clients that send again at the moment of being answered would keep a turn going for a second;
 * this way a connection has one request in it.
 * @param nextTurn calls back in the next turn
 */
export function inTurns(
  dispatch: Dispatch,
  most = mostReplies,
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
    return begun <= most ? reply : late(reply);
  };
}
