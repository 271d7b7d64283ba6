/*
 * src/ingest/admission: who has to wait or is refused. rate-limits.ts and keyed-limits.ts bound rates, unknown-senders.ts those of
 * senders without a key, and large-bodies.ts bounds memory and concurrency.
 */
import { TokenBucket } from './token-bucket.ts';

/** The limits of an application; `null` takes those of the service. */
export interface RateLimited {
  readonly number: number;
  readonly rate: number | null;
  readonly burst: number | null;
}

/** Bytes of a body that one token covers: most packets fit into one. */
const bytesPerToken = 4096;

/** Tokens charged for a body: one per 4 KiB, rounded up. */
export function tokensFor(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / bytesPerToken));
}

/** A token bucket for each application that has sent something. No application gets more than the service allows any. */
export class RateLimits {
  readonly #buckets = new Map<number, TokenBucket>();
  #rate = 0;
  #burst = 0;

  /** @param rate tokens a second (0: no limit) and @param burst tokens at once, at most, of each application */
  constructor(rate: number, burst: number) {
    this.set(rate, burst);
  }

  /** Changes the limits of applications without their own. Their buckets begin full. */
  set(rate: number, burst: number): void {
    this.#rate = rate;
    this.#burst = burst;
  }

  /**
   * Takes the tokens of one packet or report.
   * @param bytes of its body
   * @returns 0 when it may pass, else the seconds to wait
   */
  take(application: RateLimited, now: number, bytes: number): number {
    return this.#bucketOf(application, now).take(now, tokensFor(bytes));
  }

  /** Takes tokens that were not known before the work was done: the application may owe them afterwards. */
  owe(application: RateLimited, now: number, tokens: number): void {
    this.#bucketOf(application, now).owe(now, tokens);
  }

  /** As `take`, but takes nothing. */
  wait(application: RateLimited, now: number, bytes: number): number {
    return this.#bucketOf(application, now).wait(now, tokensFor(bytes));
  }

  #bucketOf(application: RateLimited, now: number): TokenBucket {
    const { rate, burst } = this.#limitsOf(application);
    const bucket = this.#buckets.get(application.number);
    if (bucket !== undefined && bucket.rate === rate && bucket.burst === burst) return bucket;
    const fresh = new TokenBucket(rate, burst, now);
    this.#buckets.set(application.number, fresh);
    return fresh;
  }

  /** An application without a limit of its own has those of the service. */
  #limitsOf({ rate, burst }: RateLimited): { readonly rate: number; readonly burst: number } {
    const own = { rate: rate ?? this.#rate, burst: burst ?? (rate === null ? this.#burst : rate * 2) };
    if (this.#rate === 0) return own;
    if (rate === 0) return { rate: this.#rate, burst: this.#burst };
    return { rate: Math.min(own.rate, this.#rate), burst: Math.min(own.burst, this.#burst) };
  }

  /** Drops the bucket of a deleted application. */
  forget(applicationNumber: number): void {
    this.#buckets.delete(applicationNumber);
  }
}
