/*
 * src/ingest/admission: decides who waits or is refused. rate-limits.ts and keyed-limits.ts limit rates, unknown-senders.ts
 * limits senders without a key, and large-bodies.ts limits memory and concurrency.
 */
import { TokenBucket } from './token-bucket.ts';

/** `null`: the default of the service. */
export interface RateLimited {
  readonly number: number;
  readonly rate: number | null;
  readonly burst: number | null;
}

/** Body bytes per token: most packets fit into one. */
const bytesPerToken = 4096;

export function tokensFor(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / bytesPerToken));
}

export type Bucket = Pick<TokenBucket, 'rate' | 'burst' | 'take' | 'owe' | 'wait'>;

export type EffectiveLimits = Pick<Bucket, 'rate' | 'burst'>;

export class RateLimits {
  readonly #buckets = new Map<number, Bucket>();
  #rate = 0;
  #burst = 0;

  /** @param rate tokens a second (0 for no limit) and @param burst bucket capacity of each application */
  constructor(rate: number, burst: number) {
    this.set(rate, burst);
  }

  /** Changes the default limits. The affected buckets start full. */
  set(rate: number, burst: number): void {
    this.#rate = rate;
    this.#burst = burst;
  }

  /** Takes the tokens of one packet or report. @param bytes of its body @returns 0 if it may pass, else the seconds to wait */
  take(application: RateLimited, now: number, bytes: number): number {
    return this.#bucketOf(application, now).take(now, tokensFor(bytes));
  }

  /** The application may owe the tokens, because the cost is known only after the work was done. */
  owe(application: RateLimited, now: number, tokens: number): void {
    this.#bucketOf(application, now).owe(now, tokens);
  }

  wait(application: RateLimited, now: number, bytes: number): number {
    return this.#bucketOf(application, now).wait(now, tokensFor(bytes));
  }

  forget(applicationNumber: number): void {
    this.#buckets.delete(applicationNumber);
  }

  protected open(_applicationNumber: number, { rate, burst }: EffectiveLimits, now: number): Bucket {
    return new TokenBucket(rate, burst, now);
  }

  #bucketOf(application: RateLimited, now: number): Bucket {
    const limits = this.limitsOf(application);
    const bucket = this.#buckets.get(application.number);
    if (bucket !== undefined && bucket.rate === limits.rate && bucket.burst === limits.burst) return bucket;
    const fresh = this.open(application.number, limits, now);
    this.#buckets.set(application.number, fresh);
    return fresh;
  }

  /** The limits of an application: those of the service unless its own are lower. */
  protected limitsOf({ rate, burst }: RateLimited): EffectiveLimits {
    const own = { rate: rate ?? this.#rate, burst: burst ?? (rate === null ? this.#burst : rate * 2) };
    if (this.#rate === 0) return own;
    if (rate === 0) return { rate: this.#rate, burst: this.#burst };
    return { rate: Math.min(own.rate, this.#rate), burst: Math.min(own.burst, this.#burst) };
  }
}
