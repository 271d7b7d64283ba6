import type { TimerClock } from '../../runtime/clock.ts';
import type { Run } from './statement.ts';

/** A machine whose clock is further from PostgreSQL's manages nothing: what it shows people and tokens would be wrong. */
export const maxSkewMs = 5000;

/** @param skewMs how far the clock is ahead of PostgreSQL's @returns `undefined` when that does no harm */
export function whySkewed(skewMs: number, whose = 'this machine'): string | undefined {
  if (Math.abs(skewMs) <= maxSkewMs) return undefined;
  const way = skewMs > 0 ? 'ahead of' : 'behind';
  return `The clock of ${whose} is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${way} PostgreSQL's; the limit is 5 s. Correct the clock (NTP)`;
}

/** When PostgreSQL read its clock for a statement; its rows have the column `at`, Unix ms. */
export const postgresNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * PostgreSQL's time as this process knows it: the one clock by which nodes decide what they share, such as what has expired. It
 * goes on with the monotonic clock between two answers, so a jump of the machine's own clock does not move it. A jump of PostgreSQL's
 * clock moves it only if the machine's clock agrees with the result. Otherwise it is never ahead of PostgreSQL's, so a node can state
 * by it until when it has shipped.
 */
export class SharedClock implements TimerClock {
  readonly #machine: TimerClock;
  /** Offset of PostgreSQL's time from the monotonic clock. */
  #ahead: number | undefined;
  /** Offset of the machine's clock from PostgreSQL's in ms, as of the last answer. A slow answer is given the benefit of the doubt. */
  skewMs = 0;

  constructor(machine: TimerClock) {
    this.#machine = machine;
  }

  /** Unix ms; by the machine's own clock until PostgreSQL has answered once. */
  now(): number {
    return this.#ahead === undefined ? this.#machine.now() : Math.floor(this.monotonic() + this.#ahead);
  }

  monotonic(): number {
    return this.#machine.monotonic();
  }

  after(ms: number, callback: () => void): void {
    this.#machine.after(ms, callback);
  }

  /**
   * Notes PostgreSQL's time, which has just arrived.
   * @param at Unix ms @param asked when the statement was sent, by the monotonic clock
   */
  heard(at: number, asked: number): void {
    const answered = this.monotonic();
    const [least, most] = [at - answered, at - asked];
    const machine = this.#machine.now() - answered;
    this.skewMs = Math.max(0, machine - most) + Math.min(0, machine - least);
    // What was known is the better bound, unless it cannot be right: another server may have another clock.
    const known = this.#ahead ?? least;
    const heard = Math.min(most, Math.max(least, known));
    const hasJumped = Math.abs(heard - known) > maxSkewMs && Math.abs(this.skewMs) > maxSkewMs;
    if (!hasJumped) this.#ahead = heard;
  }

  /** Asks PostgreSQL. @throws {Error} as `check` */
  async ask(run: Run): Promise<void> {
    const asked = this.monotonic();
    const { rows } = await run<{ at: bigint }>({ text: `SELECT ${postgresNow} AS at` });
    this.heard(Number(rows[0]!.at), asked);
    this.check();
  }

  /** @throws {Error} when the machine's clock is wrong; it states the difference */
  check(): void {
    const why = whySkewed(this.skewMs);
    if (why !== undefined) throw new Error(why);
  }
}
