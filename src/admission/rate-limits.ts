import { TokenBucket } from './token-bucket.ts';

/** What limits an application: its own figures, or `null` for the server's. */
export interface RateLimited {
  readonly number: number;
  readonly rate: number | null;
  readonly burst: number | null;
}

/** One token bucket per application; there are as many as applications that sent something. */
export class RateLimits {
  private readonly buckets = new Map<number, TokenBucket>();
  private readonly rate: number;
  private readonly burst: number;

  /** @param rate packets a second (0: no limit) and @param burst packets at once, for applications without their own */
  constructor(rate: number, burst: number) {
    this.rate = rate;
    this.burst = burst;
  }

  /** Takes one packet's token. Gives 0 when the packet may pass, else the seconds to wait. */
  take(application: RateLimited, now: number): number {
    const rate = application.rate ?? this.rate;
    if (rate === 0) return 0;
    const burst = application.burst ?? (application.rate === null ? this.burst : rate * 2);
    const bucket = this.buckets.get(application.number);
    if (bucket !== undefined && bucket.rate === rate && bucket.burst === burst) return bucket.take(now);
    const fresh = new TokenBucket(rate, burst, now);
    this.buckets.set(application.number, fresh);
    return fresh.take(now);
  }

  /** Lets go of a deleted application's bucket. */
  forget(applicationNumber: number): void {
    this.buckets.delete(applicationNumber);
  }
}
