/**
 * A token bucket: `burst` tokens at most, `rate` new ones a second, one taken for each packet.
 * Time is passed in (monotonic milliseconds), so the bucket needs no timer and a test no sleep.
 */
export class TokenBucket {
  readonly rate: number;
  readonly burst: number;
  private tokens: number;
  private filledAt: number;

  /**
   * @param rate tokens a second; 0 is no limit
   * @param burst most tokens at once, also what a new bucket holds
   */
  constructor(rate: number, burst: number, now: number) {
    this.rate = rate;
    this.burst = burst;
    this.tokens = burst;
    this.filledAt = now;
  }

  /** Takes one token. Gives 0 when there was one, else the seconds until there is. */
  take(now: number): number {
    const wait = this.wait(now);
    if (wait === 0) this.tokens -= 1;
    return wait;
  }

  /** Seconds until there is a token, without taking it; 0 when there is one. */
  wait(now: number): number {
    if (this.rate === 0) return 0;
    const elapsed = Math.max(0, now - this.filledAt);
    this.tokens = Math.min(this.burst, this.tokens + (elapsed * this.rate) / 1000);
    this.filledAt = now;
    return this.tokens >= 1 ? 0 : (1 - this.tokens) / this.rate;
  }
}
