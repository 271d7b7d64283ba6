import type { TimerClock } from '../../runtime/clock.ts';
import { PostgresSetupError } from './postgres-error.ts';
import type { Run } from './session.ts';

/** Maximum difference from PostgreSQL's clock. Beyond it, a node manages nothing, because times shown to people and in tokens would be wrong. */
export const maxSkewMs = 5000;

/** @param skewMs how far the clock is ahead of PostgreSQL's @returns `undefined` within the limit */
export function whySkewed(skewMs: number, whose = 'this machine'): string | undefined {
  if (Math.abs(skewMs) <= maxSkewMs) return undefined;
  const way = skewMs > 0 ? 'ahead of' : 'behind';
  return `The clock of ${whose} is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${way} PostgreSQL's; the limit is 5 s. Correct the clock (NTP)`;
}

/** The time at which PostgreSQL runs a statement, Unix ms, for a column `at`. */
export const postgresNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * PostgreSQL's time as this process knows it. Nodes decide everything shared by it, such as expiry. Between two answers it follows the
 * monotonic clock, so a jump of the machine's clock does not affect it. A jump of PostgreSQL's clock affects it only if the
 * machine's clock agrees with the result. Otherwise it is never ahead of PostgreSQL's, so a node can use it to state until when it
 * has shipped.
 */
export class SharedClock implements TimerClock {
  readonly #machine: TimerClock;
  /** Offset of PostgreSQL's time from the monotonic clock. */
  #ahead: number | undefined;
  /** How far the machine's clock is ahead of PostgreSQL's, ms, as of the last answer. Assumes the smallest difference that fits. */
  skewMs = 0;

  constructor(machine: TimerClock) {
    this.#machine = machine;
  }

  /** Unix ms; of the machine's clock until PostgreSQL has answered once. */
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
   * Notes PostgreSQL's time from an answer that has just arrived.
   * @param at Unix ms @param asked when the statement was sent, monotonic
   */
  heard(at: number, asked: number): void {
    const receivedAt = this.monotonic();
    const least = at - receivedAt;
    const most = at - asked;
    const machine = this.#machine.now() - receivedAt;
    this.skewMs = Math.max(0, machine - most) + Math.min(0, machine - least);
    // The known offset is the better bound, unless it is impossible: another server may have another clock.
    const known = this.#ahead ?? least;
    const heard = Math.min(most, Math.max(least, known));
    const hasJumped = Math.abs(heard - known) > maxSkewMs && Math.abs(this.skewMs) > maxSkewMs;
    if (!hasJumped) this.#ahead = heard;
  }

  /** Queries PostgreSQL's time. @throws {Error} as `check` */
  async ask(run: Run): Promise<void> {
    const asked = this.monotonic();
    const { rows } = await run<{ at: bigint }>({ text: `SELECT ${postgresNow} AS at` });
    this.heard(Number(rows[0]!.at), asked);
    this.check();
  }

  /** @throws {Error} if the machine's clock is wrong, with the difference */
  check(): void {
    const why = whySkewed(this.skewMs);
    if (why !== undefined) throw new PostgresSetupError(why, 'The clock of this machine is wrong');
  }
}
