import { TokenBucket } from './token-bucket.ts';

/**
 * One token bucket for each key, of keys that strangers choose: at most `most` of them are held, and the one that was
 * used the longest ago makes room, which by then is most likely full again.
 */
export class KeyedLimits {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #rate: number;
  readonly #burst: number;
  readonly #most: number;

  /**
   * @param rate tokens a second; 0 is no limit
   * @param burst most tokens at once
   * @param most buckets to hold
   */
  constructor(rate: number, burst: number, most = 10_000) {
    this.#rate = rate;
    this.#burst = burst;
    this.#most = most;
  }

  /** Buckets that are held. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Seconds until a key has a token, without taking it; 0 when there is one. */
  wait(key: string, now: number): number {
    return this.#rate === 0 ? 0 : (this.#buckets.get(key)?.wait(now) ?? 0);
  }

  /** Takes one token of a key, at `now` (monotonic ms). Gives 0 when there was one, else the seconds until there is. */
  take(key: string, now: number): number {
    if (this.#rate === 0) return 0;
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate, this.#burst, now);
    // Put last again: a Map keeps the order of insertion.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#most) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return bucket.take(now);
  }
}
