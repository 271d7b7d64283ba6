import { type Envelope, recordWidth } from '../aggregate/envelope.ts';
import type { NewSeries } from '../store/series.ts';

/** Records in a growing array of doubles, ready to be transferred. */
class Records {
  array: Float64Array;
  length = 0;

  constructor(capacity: number) {
    this.array = new Float64Array(capacity * recordWidth);
  }

  push(ref: number, minute: number, a: number, b: number, c: number): void {
    const at = this.length * recordWidth;
    if (at === this.array.length) this.grow();
    const array = this.array;
    array[at] = ref;
    array[at + 1] = minute;
    array[at + 2] = a;
    array[at + 3] = b;
    array[at + 4] = c;
    this.length += 1;
  }

  private grow(): void {
    const larger = new Float64Array(this.array.length * 2);
    larger.set(this.array);
    this.array = larger;
  }
}

/** The packets that will be committed together, and the promise that all their senders wait for. */
export class Batch {
  packets = 0;
  readonly series: NewSeries[] = [];
  /** Resolves when the batch is on disk; rejects when nothing of it was kept. */
  readonly durable: Promise<void>;
  /** Ends the wait of every sender. */
  readonly settle: { kept: () => void; refused: (reason: unknown) => void };
  private readonly counts: Records;
  private readonly measurements: Records;

  /** @param expected records that the batch is likely to get: the last one's number is a good guess */
  constructor(expected: { counts: number; measurements: number }) {
    this.counts = new Records(Math.max(64, expected.counts));
    this.measurements = new Records(Math.max(16, expected.measurements));
    let settle: Batch['settle'] | undefined;
    this.durable = new Promise((kept, refused) => {
      settle = { kept, refused };
    });
    this.durable.catch(() => {}); // Every sender may have gone: that is no unhandled rejection.
    this.settle = settle!;
  }

  /** Adds what one packet says of a variant in a minute. */
  addCounts(ref: number, minute: number, checks: number, used: number, viewed: number): void {
    this.counts.push(ref, minute, checks, used, viewed);
  }

  /** Adds a metric's value, reported at `at` (Unix ms). */
  addValue(ref: number, minute: number, value: number, at: number): void {
    this.measurements.push(ref, minute, value, at, 0);
  }

  /** Records so far. */
  get size(): { counts: number; measurements: number } {
    return { counts: this.counts.length, measurements: this.measurements.length };
  }

  /** The batch as it crosses to the worker; the batch must not be added to afterwards. */
  envelope(earlierSeries: readonly NewSeries[]): Envelope {
    return {
      counts: this.counts.array,
      countRecords: this.counts.length,
      measurements: this.measurements.array,
      measurementRecords: this.measurements.length,
      series: earlierSeries.length === 0 ? this.series : [...earlierSeries, ...this.series],
    };
  }
}
