import { TokenBucket } from './token-bucket.ts';

/**
 * A token bucket for each key. Strangers choose the keys, so at most `max` buckets are held. The least recently used one is
 * dropped, which is most likely full again.
 */
export class KeyedLimits {
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #rate: number;
  readonly #burst: number;
  readonly #max: number;

  /**
   * @param rate tokens a second; 0 is no limit
   * @param burst most tokens at once
   * @param max buckets to hold
   */
  constructor(rate: number, burst: number, max = 10_000) {
    this.#rate = rate;
    this.#burst = burst;
    this.#max = max;
  }

  /** Buckets that are held. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Seconds until a key has a token, 0 when it has one. Nothing is taken. */
  wait(key: string, now: number): number {
    return this.#rate === 0 ? 0 : (this.#buckets.get(key)?.wait(now) ?? 0);
  }

  /** Takes a token of a key at `now` (monotonic ms). @returns 0, or the seconds until the key has one */
  take(key: string, now: number): number {
    if (this.#rate === 0) return 0;
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate, this.#burst, now);
    // Moved to the end: a Map keeps the order of insertion.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#max) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return bucket.take(now);
  }
}
