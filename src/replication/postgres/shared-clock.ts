import type { TimerClock } from '../../runtime/clock.ts';
import { PostgresSetupError } from './postgres-error.ts';
import type { Run } from './session.ts';

/**
 * Maximum difference between the machine's clock and PostgreSQL's clock. Beyond it, a node allows no changes of
 * accounts, because times in tokens and on pages would be wrong.
 */
export const maxSkewMs = 5000;

/** Describes a wrong clock; `undefined` within the limit. @param skewMs lead of the clock over PostgreSQL's clock */
export function whySkewed(skewMs: number, whose = 'this machine'): string | undefined {
  if (Math.abs(skewMs) <= maxSkewMs) return undefined;
  const way = skewMs > 0 ? 'ahead of' : 'behind';
  return `The clock of ${whose} is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${way} PostgreSQL's; the limit is 5 s. Correct the clock (NTP)`;
}

/** SQL for the time at which PostgreSQL runs a statement, Unix ms, for a column `at`. */
export const postgresNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * PostgreSQL's time as this process knows it. Nodes use this clock for all shared data, such as expiry. Between two
 * responses, it follows the monotonic clock, so a jump of the machine's clock has no effect. A jump of PostgreSQL's
 * clock counts only if the machine's clock agrees. Unless a clock jumps, this clock is never ahead of PostgreSQL's
 * clock. A node can therefore use it to state the time until which it has shipped.
 */
export class SharedClock implements TimerClock {
  readonly #machine: TimerClock;
  /** Offset of PostgreSQL's time from the monotonic clock. */
  #ahead: number | undefined;
  /** Smallest possible lead of the machine's clock over PostgreSQL's clock at the last response, ms. */
  skewMs = 0;

  constructor(machine: TimerClock) {
    this.#machine = machine;
  }

  /** Returns PostgreSQL's time, Unix ms. Until PostgreSQL has responded once, returns the machine's time. */
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
   * Stores PostgreSQL's time from a response that has just arrived.
   * @param at Unix ms @param asked time when the statement was sent, monotonic
   */
  heard(at: number, asked: number): void {
    const receivedAt = this.monotonic();
    const least = at - receivedAt;
    const most = at - asked;
    const machine = this.#machine.now() - receivedAt;
    this.skewMs = Math.max(0, machine - most) + Math.min(0, machine - least);
    // The known offset is kept if this response allows it. If not, a new primary might have another clock.
    const known = this.#ahead ?? least;
    const heard = Math.min(most, Math.max(least, known));
    const hasJumped = Math.abs(heard - known) > maxSkewMs && Math.abs(this.skewMs) > maxSkewMs;
    if (!hasJumped) this.#ahead = heard;
  }

  /** Queries PostgreSQL's time. @throws {Error} see `check` */
  async ask(run: Run): Promise<void> {
    const asked = this.monotonic();
    const { rows } = await run<{ at: bigint }>({ text: `SELECT ${postgresNow} AS at` });
    this.heard(Number(rows[0]!.at), asked);
    this.check();
  }

  /** Checks the machine's clock. @throws {Error} if it is wrong, with the difference */
  check(): void {
    const why = whySkewed(this.skewMs);
    if (why !== undefined) throw new PostgresSetupError(why, 'The clock of this machine is wrong');
  }
}
