import type { Clock } from '../clock.ts';

/**
 * The engine's time of day as a node knows it. All nodes say by it until when they have shipped, because their own clocks differ and
 * may be set. It is never ahead of the engine's, so that it can be said that what was answered before is there.
 */
export class EngineTime {
  readonly #clock: Clock;
  /** By how much it is ahead of the clock for ages. */
  #ahead: number | undefined;
  /** How far this machine's clock is ahead of the engine's, as when the engine was last heard. */
  skewMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Unix ms; by the node's own clock until the engine was heard. */
  now(): number {
    return this.#ahead === undefined ? this.#clock.now() : Math.floor(this.#clock.monotonic() + this.#ahead);
  }

  /**
   * Notes the engine's time, which has just arrived.
   * @param at Unix ms @param asked when it was asked for, by the clock for ages
   */
  heard(at: number, asked: number): void {
    const passed = this.#clock.monotonic();
    const [least, most] = [at - passed, at - asked];
    this.skewMs = this.#clock.now() - at - (passed - asked) / 2;
    // What was known is the better bound, unless it cannot be right: another server may have another clock.
    this.#ahead = Math.min(most, Math.max(least, this.#ahead ?? least));
  }
}
