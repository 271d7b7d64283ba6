import { Refusal } from '../../contract/errors.ts';
import type { ByteBudget } from '../types.ts';

/** Maximum length of a request's head in bytes. A longer head gets 431. */
export const maxHead = 16 * 1024;

/**
 * Maximum declared length of a body for which the HTTP engine's idle timeout suffices. A body of this length takes 16 s
 * at 4 kB/s.
 */
export const briefBody = 64 * 1024;

/**
 * Idle time and number of bytes after which the connection of a refused body is closed. Until then, the rest is read.
 * Closing earlier would reset the connection, which can lose the response (RFC 9112 §9.6).
 */
export const linger = { seconds: 5, bytes: 16 * 1024 * 1024 };

export function tooLarge(limit: number): Refusal {
  return new Refusal('body_too_large', `A body may have at most ${limit} bytes`);
}

export function tooSlow(): Refusal {
  return new Refusal('body_too_slow', 'Send at least 2 KiB a second');
}

export interface ArrivingBody {
  received: number;
  /** True if the body was refused and the rest is discarded. */
  readonly isRefused?: boolean;
  /** Called once, when the body misses its deadline. */
  giveUp(): void;
}

/** Seconds allowed for any body. Each `bytesPerSecond` received bytes allow one more second. */
const graceSeconds = 30;
const bytesPerSecond = 2_048;

export function secondsAllowed(received: number, grace = graceSeconds): number {
  return grace + received / bytesPerSecond;
}

/** Limits the total time of a body, because a client that trickles bytes must not hold memory indefinitely. */
export class BodyDeadlines {
  readonly #arriving = new Map<ArrivingBody, number>();
  readonly #timer: NodeJS.Timeout;
  #seconds = 0;

  /** @param secondMs length of a second, ms; shorter in tests */
  constructor(secondMs = 1_000) {
    this.#timer = setInterval(() => this.tick(), secondMs).unref();
  }

  begin(body: ArrivingBody): void {
    this.#arriving.set(body, this.#seconds);
  }

  end(body: ArrivingBody): void {
    this.#arriving.delete(body);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  tick(): void {
    this.#seconds += 1;
    for (const [body, begun] of this.#arriving) {
      const seconds = this.#seconds - begun;
      // Bytes before the refusal do not prolong the wait, because many clients stop sending after a refusal.
      if (body.isRefused) body.received = Math.min(body.received, seconds * bytesPerSecond);
      if (seconds <= secondsAllowed(body.received, body.isRefused ? linger.seconds : graceSeconds)) continue;
      this.#arriving.delete(body);
      body.giveUp();
    }
  }
}

/** Received bytes of one body that are charged to a budget. Small bodies are not charged. */
export class Charge {
  readonly #budget: ByteBudget | undefined;
  #bytes = 0;

  constructor(budget: ByteBudget | undefined) {
    this.#budget = budget;
  }

  /** @throws {Refusal} the budget's error */
  growTo(length: number): void {
    if (this.#budget === undefined || length <= this.#budget.free) return;
    this.#budget.take(length - this.#bytes);
    this.#bytes = length;
  }

  /** Passes the charge to the reader of the complete body, which releases the charge. */
  handOver(): void {
    this.#bytes = 0;
  }

  giveBack(): void {
    this.#budget?.give(this.#bytes);
    this.#bytes = 0;
  }
}
