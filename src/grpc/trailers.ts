/** A call that waits to send its trailers. */
interface Ending {
  sendTrailers(): void;
}

/** Maximum number of calls whose trailers are sent together. */
const most = 64;

/**
 * Sends the trailers of calls together. Each stream of Bun flushes its session when it wants its trailers, so trailers sent there go out
 * in a packet of their own: a system call, and a wakeup of the client, for ten bytes. Those of a turn of the event loop share
 * a packet for each session.
 */
export class Trailers {
  #ending: Ending[] = [];

  add(call: Ending): void {
    const waiting = this.#ending.push(call);
    if (waiting === 1) setImmediate(() => this.#send());
    else if (waiting === most) this.#send();
  }

  #send(): void {
    const ending = this.#ending;
    this.#ending = [];
    for (const call of ending) call.sendTrailers();
  }
}
