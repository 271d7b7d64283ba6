import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { PostgresError, publicReason } from './postgres-error.ts';

/** Duration of an outage, such as a failover, up to which requests wait for its end. Later requests are refused. */
const blipMs = 1000;
/** Interval between log messages during a long outage, or during frequent outages. */
const repeatMs = 60_000;

interface AvailabilityMessages {
  readonly away: string;
  readonly next: string;
  readonly back: string;
}

/** The availability of PostgreSQL to the sessions that share this instance. */
export class Availability {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #messages: AvailabilityMessages;
  #downSince: number | undefined;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #isLoggedAway = false;
  #trouble: string | undefined;
  /** Reason why PostgreSQL is unavailable, for unauthenticated readers; `undefined` if it is available. */
  publicReason: string | undefined;
  /** Time since which PostgreSQL has been available, or unavailable, Unix ms. */
  since: number;

  /** @param trouble reason why PostgreSQL is unavailable, reported until the first response */
  constructor(clock: Clock, log: Log, messages: AvailabilityMessages, trouble?: string) {
    this.#clock = clock;
    this.#log = log;
    this.#messages = messages;
    this.#trouble = trouble;
    this.since = clock.now();
  }

  /** Reason why PostgreSQL is not available; `undefined` if it is available. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** True if PostgreSQL has been unavailable for longer than `blipMs`. Requests then fail without waiting. */
  get isDown(): boolean {
    return this.#downSince !== undefined && this.#clock.monotonic() - this.#downSince > blipMs;
  }

  succeeded(): void {
    if (this.#trouble === undefined) return;
    const fields = { after: this.#trouble, awayMs: this.#clock.now() - this.since };
    if (this.#isLoggedAway) this.#log.info(this.#messages.back, fields);
    this.#isLoggedAway = false;
    this.#downSince = undefined;
    this.#trouble = undefined;
    this.publicReason = undefined;
    this.since = this.#clock.now();
  }

  failed(error: Error): void {
    const now = this.#clock.monotonic();
    if (now - this.#loggedAt >= repeatMs) {
      const sqlstate = error instanceof PostgresError ? error.sqlstate : undefined;
      const { away, next } = this.#messages;
      this.#log.warn(away, { reason: error.message, sqlstate, next });
      this.#loggedAt = now;
      this.#isLoggedAway = true;
    }
    if (this.#downSince === undefined) this.since = this.#clock.now();
    this.#downSince ??= now;
    this.#trouble = error.message;
    this.publicReason = publicReason(error);
  }
}
