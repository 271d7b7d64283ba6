/*
 * src/ingest/admission: decides which messages wait or are refused. rate-limits.ts limits applications and senders
 * without a key, shared-rate-limits.ts shares these limits between threads, and large-bodies.ts limits memory and
 * concurrency.
 */

import { findNetwork } from '../../runtime/addresses.ts';

/** Application with its limits. `null` stands for the default of the service. */
export interface LimitedApplication {
  readonly number: number;
  readonly rate: number | null;
  readonly burst: number | null;
}

/** Body bytes per token. Most packets cost one token. */
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

  /** @param rate tokens per second of each application; 0 for no limit @param burst capacity of its bucket */
  constructor(rate: number, burst: number) {
    this.set(rate, burst);
  }

  /** Changes the default limits. The affected buckets start full. */
  set(rate: number, burst: number): void {
    this.#rate = rate;
    this.#burst = burst;
  }

  /**
   * Takes the tokens of one message.
   * @param bytes length of its body
   * @returns 0 if the message can pass, else the seconds to wait
   */
  take(application: LimitedApplication, now: number, bytes: number): number {
    return this.#findBucket(application, now).take(now, tokensFor(bytes));
  }

  /** Takes tokens even if there are too few. Used for a cost that is known only after the work is done. */
  owe(application: LimitedApplication, now: number, tokens: number): void {
    this.#findBucket(application, now).owe(now, tokens);
  }

  wait(application: LimitedApplication, now: number, bytes: number): number {
    return this.#findBucket(application, now).wait(now, tokensFor(bytes));
  }

  forget(applicationNumber: number): void {
    this.#buckets.delete(applicationNumber);
  }

  protected open(_applicationNumber: number, { rate, burst }: EffectiveLimits, now: number): Bucket {
    return new TokenBucket(rate, burst, now);
  }

  #findBucket(application: LimitedApplication, now: number): Bucket {
    const limits = this.findLimits(application);
    const bucket = this.#buckets.get(application.number);
    if (bucket !== undefined && bucket.rate === limits.rate && bucket.burst === limits.burst) return bucket;
    const fresh = this.open(application.number, limits, now);
    this.#buckets.set(application.number, fresh);
    return fresh;
  }

  /** Returns the lower of the application's own limits and the service's limits. */
  protected findLimits({ rate, burst }: LimitedApplication): EffectiveLimits {
    const own = { rate: rate ?? this.#rate, burst: burst ?? (rate === null ? this.#burst : rate * 2) };
    if (this.#rate === 0) return own;
    if (rate === 0) return { rate: this.#rate, burst: this.#burst };
    return { rate: Math.min(own.rate, this.#rate), burst: Math.min(own.burst, this.#burst) };
  }
}

/**
 * A token bucket. It holds at most `burst` tokens and gains `rate` tokens a second. A request that costs more than
 * `burst` passes if the bucket is full. This leaves a debt, and nothing else passes until the debt is paid off. The
 * caller passes the time (monotonic ms), so neither the bucket nor its tests need a timer.
 */
export class TokenBucket {
  readonly rate: number;
  readonly burst: number;
  #tokens: number;
  #filledAt: number;

  /** @param rate tokens a second; 0 for no limit @param burst capacity; a new bucket is full */
  constructor(rate: number, burst: number, now: number) {
    this.rate = rate;
    this.burst = burst;
    this.#tokens = burst;
    this.#filledAt = now;
  }

  /** Takes `cost` tokens. @returns 0, or the seconds until there are enough tokens */
  take(now: number, cost = 1): number {
    const wait = this.wait(now, cost);
    if (wait === 0) this.#tokens -= cost;
    return wait;
  }

  /** Takes `cost` tokens even if there are too few. The debt is paid off before anything else passes. */
  owe(now: number, cost: number): void {
    this.wait(now);
    this.#tokens -= cost;
  }

  /** Returns the seconds until there are enough tokens; 0 if there are enough now. Takes no tokens. */
  wait(now: number, cost = 1): number {
    if (this.rate === 0) return 0;
    const elapsed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.burst, this.#tokens + (elapsed * this.rate) / 1000);
    this.#filledAt = now;
    const needed = Math.min(cost, Math.max(1, this.burst));
    return this.#tokens >= needed ? 0 : (needed - this.#tokens) / this.rate;
  }
}

/**
 * Token buckets by key. Senders choose the keys, so at most `max` buckets are kept. The least recently used buckets are
 * evicted, because they are the most likely to be full again.
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

  /** Returns the seconds until a key has enough tokens; 0 if it has enough now. Takes no tokens. */
  wait(key: string, now: number, cost = 1): number {
    return this.#rate === 0 ? 0 : (this.#buckets.get(key)?.wait(now, cost) ?? 0);
  }

  /** Takes a key's tokens at `now` (monotonic ms). @returns 0, or the seconds until there are enough tokens */
  take(key: string, now: number, cost = 1): number {
    return this.#rate === 0 ? 0 : this.#findBucket(key, now).take(now, cost);
  }

  /** Takes a key's tokens even if it has too few: see `TokenBucket.owe`. */
  owe(key: string, now: number, cost: number): void {
    if (this.#rate !== 0) this.#findBucket(key, now).owe(now, cost);
  }

  #findBucket(key: string, now: number): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate, this.#burst, now);
    // A Map keeps insertion order, so deleting and adding the bucket moves it to the end.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#max) this.#evict();
    return bucket;
  }

  /** Evicts 1 % of the buckets. Evicting one at a time would be slow, because each new iterator skips removed keys. */
  #evict(): void {
    let left = Math.ceil(this.#max / 100);
    for (const key of this.#buckets.keys()) {
      this.#buckets.delete(key);
      left -= 1;
      if (left === 0) return;
    }
  }
}

/** Limit of one network: 64 KiB a second, with a burst of 1 MiB. A larger body passes if the network has no debt. */
const each = { rate: 16, burst: 256 };

/** Limit of all networks in total: 1 MiB a second, with a burst of 16 MiB. */
const together = { rate: 256, burst: 4096 };

/**
 * Limits the cost of large bodies without a known key. A few kB of gzip can take megabytes to decode, so without a
 * limit anyone could keep the service busy. Each network also has its own limit, so that one attacker does not block
 * all others.
 */
export class UnknownSenders {
  readonly #each = new KeyedLimits(each.rate, each.burst);
  readonly #together: TokenBucket;

  constructor(now: number) {
    this.#together = new TokenBucket(together.rate, together.burst, now);
  }

  /** Takes tokens even if there are too few. The debt is paid off before anything else passes. */
  owe(address: string, now: number, tokens: number): void {
    this.#each.owe(findNetwork(address), now, tokens);
    this.#together.owe(now, tokens);
  }

  /** Returns the seconds until the network of an address has enough tokens; 0 if it has enough now. Takes no tokens. */
  wait(address: string, now: number, tokens: number): number {
    return Math.max(this.#each.wait(findNetwork(address), now, tokens), this.#together.wait(now, tokens));
  }
}
