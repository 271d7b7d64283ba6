/**
 * A token bucket: at most `burst` tokens, and `rate` new ones a second. A request that costs more than the burst passes if the
 * bucket is full, and leaves a debt that is paid off first.
 * Time is passed in (monotonic milliseconds), so neither the bucket nor its tests need a timer.
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

  /** Takes `cost` tokens. @returns 0, or the seconds until there are enough */
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

  /** Seconds until there are enough tokens; 0 if there are. Takes nothing. */
  wait(now: number, cost = 1): number {
    if (this.rate === 0) return 0;
    const elapsed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.burst, this.#tokens + (elapsed * this.rate) / 1000);
    this.#filledAt = now;
    const needed = Math.min(cost, Math.max(1, this.burst));
    return this.#tokens >= needed ? 0 : (needed - this.#tokens) / this.rate;
  }
}
