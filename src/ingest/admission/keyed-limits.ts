import { TokenBucket } from './token-bucket.ts';

/**
 * A token bucket per key. Senders choose the keys, so at most `max` buckets are kept. The least recently used ones are evicted:
 * they are the likeliest to be full again.
 */
export class KeyedLimits {
  readonly #buckets = new Map<string, TokenBucket>();
  #rate = 0;
  #burst = 0;
  readonly #max: number;

  /** @param rate tokens a second; 0 for no limit @param burst bucket capacity @param max maximum number of buckets */
  constructor(rate: number, burst: number, max = 10_000) {
    this.set(rate, burst);
    this.#max = max;
  }

  /** Changes the limits. All buckets start full. */
  set(rate: number, burst: number): void {
    if (rate === this.#rate && burst === this.#burst) return;
    this.#rate = rate;
    this.#burst = burst;
    this.#buckets.clear();
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Seconds until a key has enough tokens; 0 if it has. Takes nothing. */
  wait(key: string, now: number, cost = 1): number {
    return this.#rate === 0 ? 0 : (this.#buckets.get(key)?.wait(now, cost) ?? 0);
  }

  /** Takes a key's tokens at `now` (monotonic ms). @returns 0, or the seconds until the key has enough */
  take(key: string, now: number, cost = 1): number {
    return this.#rate === 0 ? 0 : this.#bucketOf(key, now).take(now, cost);
  }

  /** Takes a key's tokens even if it has too few: see `TokenBucket.owe`. */
  owe(key: string, now: number, cost: number): void {
    if (this.#rate !== 0) this.#bucketOf(key, now).owe(now, cost);
  }

  #bucketOf(key: string, now: number): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate, this.#burst, now);
    // Moved to the end: a Map keeps insertion order.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#max) this.#evict();
    return bucket;
  }

  /** A new iterator skips all removed keys, of which a full map has thousands, so one eviction frees a hundredth of the map. */
  #evict(): void {
    let left = Math.ceil(this.#max / 100);
    for (const key of this.#buckets.keys()) {
      this.#buckets.delete(key);
      left -= 1;
      if (left === 0) return;
    }
  }
}
