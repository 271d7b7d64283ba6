import { type Bucket, type EffectiveLimits, type LimitedApplication, RateLimits } from './rate-limits.ts';

/** Bucket of an application in memory that threads share, and the limits with which it was opened. */
export interface SharedLimit extends EffectiveLimits {
  readonly application: number;
  readonly memory: SharedArrayBuffer;
}

/** Two views of the same memory, which convert numbers to bits for atomic operations. */
const number = new Float64Array(1);
const bits = new BigInt64Array(number.buffer);

/**
 * A `TokenBucket` for several threads. Its state is one number: the time when the bucket was empty or, after a debt,
 * will be empty. A thread takes tokens with one atomic operation, so no thread waits for another.
 */
export class SharedBucket implements Bucket {
  readonly rate: number;
  readonly burst: number;
  readonly #emptyAt: BigInt64Array;
  /** Offset between this thread's monotonic clock and the time that the bucket uses, ms. */
  readonly #origin: number;

  /** @param origin start of this thread's monotonic clock, in ms since a start time that all threads share */
  constructor({ rate, burst, memory }: SharedLimit, origin: number) {
    this.rate = rate;
    this.burst = burst;
    this.#emptyAt = new BigInt64Array(memory);
    this.#origin = origin;
  }

  /** Allocates the memory of a full bucket, which was last empty infinitely long ago. */
  static memory(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(8);
    new Float64Array(memory)[0] = Number.NEGATIVE_INFINITY;
    return memory;
  }

  take(now: number, cost = 1): number {
    return this.#exchange(now, cost, Math.min(cost, Math.max(1, this.burst)));
  }

  owe(now: number, cost: number): void {
    this.#exchange(now, cost, Number.NEGATIVE_INFINITY);
  }

  wait(now: number, cost = 1): number {
    bits[0] = Atomics.load(this.#emptyAt, 0);
    return this.#waitFrom(number[0]!, now + this.#origin, Math.min(cost, Math.max(1, this.burst)));
  }

  /** Takes `cost` tokens if the bucket has `needed` tokens: `needed` is lower than `cost` if a debt is allowed. */
  #exchange(now: number, cost: number, needed: number): number {
    const at = now + this.#origin;
    for (;;) {
      const before = Atomics.load(this.#emptyAt, 0);
      bits[0] = before;
      const emptyAt = number[0]!;
      const wait = this.#waitFrom(emptyAt, at, needed);
      if (wait > 0) return wait;
      number[0] = Math.max(emptyAt, at - (this.burst * 1000) / this.rate) + (cost * 1000) / this.rate;
      if (Atomics.compareExchange(this.#emptyAt, 0, before, bits[0]!) === before) return 0;
    }
  }

  #waitFrom(emptyAt: number, at: number, needed: number): number {
    const tokens = Math.min(this.burst, ((at - emptyAt) * this.rate) / 1000);
    return tokens >= needed ? 0 : (needed - tokens) / this.rate;
  }
}

/** Rate limits of the main thread, which opens all buckets. The limits hold for all threads together. */
export class SharedRateLimits extends RateLimits {
  readonly #publish: (limit: SharedLimit) => void;

  /** @param publish sends an opened bucket to all threads */
  constructor(rate: number, burst: number, publish: (limit: SharedLimit) => void) {
    super(rate, burst);
    this.#publish = publish;
  }

  protected override open(application: number, limits: EffectiveLimits, now: number): Bucket {
    if (limits.rate === 0) return super.open(application, limits, now);
    const limit = { application, ...limits, memory: SharedBucket.memory() };
    this.#publish(limit);
    return new SharedBucket(limit, 0);
  }
}

/** Rate limits of a thread other than the main thread, based on the buckets that the main thread published. */
export class ThreadRateLimits extends RateLimits {
  readonly #shared = new Map<number, SharedLimit>();
  readonly #origin: number;

  /** @param origin start of this thread's monotonic clock on the main thread's clock, ms */
  constructor(rate: number, burst: number, origin: number) {
    super(rate, burst);
    this.#origin = origin;
  }

  learn(limit: SharedLimit): void {
    this.#shared.set(limit.application, limit);
    super.forget(limit.application);
  }

  override forget(applicationNumber: number): void {
    super.forget(applicationNumber);
    this.#shared.delete(applicationNumber);
  }

  /**
   * True if this thread has the application's bucket. Otherwise the main thread must count the message, and then opens
   * the bucket for all threads.
   */
  covers(application: LimitedApplication): boolean {
    const { rate, burst } = this.findLimits(application);
    const shared = this.#shared.get(application.number);
    return rate === 0 || (shared?.rate === rate && shared.burst === burst);
  }

  /** @throws {Error} for an application for which `covers` returns false */
  protected override open(application: number, limits: EffectiveLimits, now: number): Bucket {
    if (limits.rate === 0) return super.open(application, limits, now);
    const shared = this.#shared.get(application);
    if (shared?.rate !== limits.rate || shared.burst !== limits.burst)
      throw new Error(`The thread lacks the rate limit of application ${application}`);
    return new SharedBucket(shared, this.#origin);
  }
}
