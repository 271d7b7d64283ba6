import { TokenBucket } from './token-bucket.ts';

/** The limits of an application; `null` takes the server's default. */
export interface RateLimited {
  readonly number: number;
  readonly rate: number | null;
  readonly burst: number | null;
}

/** Bytes of a body that one token covers: most packets fit into one. */
const bytesPerToken = 4096;

/** A token bucket for each application that has sent something. */
export class RateLimits {
  readonly #buckets = new Map<number, TokenBucket>();
  readonly #rate: number;
  readonly #burst: number;

  /** @param rate tokens a second (0: no limit) and @param burst tokens at once, for applications without their own */
  constructor(rate: number, burst: number) {
    this.#rate = rate;
    this.#burst = burst;
  }

  /**
   * Takes the tokens of one packet or report: one for each begun 4 KiB.
   * @param bytes of its body
   * @returns 0 when it may pass, else the seconds to wait
   */
  take(application: RateLimited, now: number, bytes: number): number {
    const rate = application.rate ?? this.#rate;
    if (rate === 0) return 0;
    const cost = Math.max(1, Math.ceil(bytes / bytesPerToken));
    const burst = application.burst ?? (application.rate === null ? this.#burst : rate * 2);
    const bucket = this.#buckets.get(application.number);
    if (bucket !== undefined && bucket.rate === rate && bucket.burst === burst) return bucket.take(now, cost);
    const fresh = new TokenBucket(rate, burst, now);
    this.#buckets.set(application.number, fresh);
    return fresh.take(now, cost);
  }

  /** Drops the bucket of a deleted application. */
  forget(applicationNumber: number): void {
    this.#buckets.delete(applicationNumber);
  }
}
