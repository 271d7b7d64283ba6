import type { TimerClock } from './clock.ts';

/** Time within which collected changes are sent, ms. */
const periodMs = 1000;

/**
 * Decides when the owner sends its collected changes: immediately, up to `perSecond` times a second. Above this rate,
 * the changes are sent together within a second, so that a busy thread does not overload the receiver.
 */
export class Outbox {
  readonly #clock: TimerClock;
  readonly #send: () => void;
  readonly #perSecond: number;
  #since = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #waits = false;

  /** @param send sends all collected changes */
  constructor(clock: TimerClock, send: () => void, perSecond = 1000) {
    this.#clock = clock;
    this.#send = send;
    this.#perSecond = perSecond;
  }

  /** Sends the changes now, or within a second if the rate is used up. */
  send(): void {
    const now = this.#clock.monotonic();
    if (now - this.#since >= periodMs) {
      this.#since = now;
      this.#sent = 0;
    }
    if (this.#sent >= this.#perSecond) {
      this.sendLater();
      return;
    }
    this.#sent += 1;
    this.#send();
  }

  sendLater(): void {
    if (this.#waits) return;
    this.#waits = true;
    this.#clock.after(periodMs, () => {
      this.#waits = false;
      this.#send();
    });
  }
}
