import type { Clock } from './clock.ts';

export interface Totals {
  /** Number of values in each bucket. The last bucket contains the values above the last bound. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** Bounds for durations from half a millisecond to ten seconds, in seconds. */
export const seconds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/**
 * Counts values in buckets. One array of 64-bit floats holds the counts: counting allocates nothing, and counts can
 * exceed 32 bits.
 */
export class Histogram {
  /** The upper bound of each bucket, in ascending order. */
  readonly bounds: readonly number[];
  /** Shared memory of the counts, with which another thread can count in the same histogram. */
  readonly memory: ArrayBufferLike;
  /** The count of each bucket, the count of values above the last bound, and the sum of all values. */
  readonly #cells: Float64Array;

  /**
   * @param memory shared memory of a histogram with the same bounds. One thread may write to it; any thread can read it
   */
  constructor(bounds: readonly number[] = seconds, memory?: ArrayBufferLike) {
    this.bounds = bounds;
    this.memory = memory ?? new ArrayBuffer(8 * (bounds.length + 2));
    this.#cells = new Float64Array(this.memory);
  }

  /** Creates a histogram whose memory can be passed to another thread. */
  static shared(bounds: readonly number[] = seconds): Histogram {
    return new Histogram(bounds, new SharedArrayBuffer(8 * (bounds.length + 2)));
  }

  observe(value: number): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at += 1;
    this.#cells[at]! += 1;
    this.#cells[bounds.length + 1]! += value;
  }

  /** Returns the cells for `add` of another histogram, and resets them to zero. */
  take(): Float64Array {
    const taken = this.#cells.slice();
    this.#cells.fill(0);
    return taken;
  }

  /** Adds the counts of another histogram with the same bounds, as returned by `take`. */
  add(taken: Float64Array): void {
    for (const [at, value] of taken.entries()) this.#cells[at]! += value;
  }

  read(): Totals {
    const counts = [...this.#cells.subarray(0, -1)];
    return { counts, count: counts.reduce((sum, count) => sum + count, 0), sum: this.#cells.at(-1)! };
  }
}

/** Interval between measurements, ms. */
const everyMs = 100;

/** Measures the delay of this thread's event loop, in seconds. @returns a function that stops the measurement */
export function watchLoop(delays: Histogram, clock: Pick<Clock, 'monotonic'>): () => void {
  let due = clock.monotonic() + everyMs;
  const timer = setInterval(() => {
    const now = clock.monotonic();
    delays.observe(Math.max(0, now - due) / 1000);
    due = now + everyMs;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
