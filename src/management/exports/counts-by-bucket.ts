import type { CountsBlock } from '../../storage/aggregate/read-counts.ts';
import { bucketStart, type Step } from '../report-range.ts';

/** The counts of all series in one bucket, by their order. */
export interface BucketCounts {
  /** The start of the bucket, Unix seconds. */
  readonly at: number;
  /** 1 for series with counts. */
  readonly has: Uint8Array;
  /** Three per series: checks, used, viewed. */
  readonly counts: Float64Array;
}

/** Adds up the counts of some series by bucket. Reuses its memory for the next buckets. */
export class CountsByBucket {
  readonly ordinals: readonly number[];
  readonly #step: Step;
  readonly #places: Int32Array;
  readonly #buckets = new Map<number, BucketCounts>();
  readonly #free: BucketCounts[] = [];

  /** @param ordinals the series in the order of the rows */
  constructor(ordinals: readonly number[], step: Step) {
    this.ordinals = ordinals;
    this.#step = step;
    const most = ordinals.reduce((most, ordinal) => Math.max(most, ordinal), -1);
    this.#places = new Int32Array(most + 1).fill(-1);
    for (const [place, ordinal] of ordinals.entries()) this.#places[ordinal] = place;
  }

  /** Number of series. */
  get size(): number {
    return this.ordinals.length;
  }

  /** Adds a part of a bucket. Ignores other series. */
  add(block: CountsBlock): void {
    const { has, counts } = this.#bucketOf(bucketStart(block.minute, this.#step));
    for (let index = 0; index < block.size; index += 1) {
      const place = this.#places[block.ordinals[index]!] ?? -1;
      if (place < 0) continue;
      has[place] = 1;
      counts[place * 3]! += block.checks[index]!;
      counts[place * 3 + 1]! += block.used[index]!;
      counts[place * 3 + 2]! += block.viewed[index]!;
    }
  }

  /** The buckets by time. */
  buckets(): readonly BucketCounts[] {
    return [...this.#buckets.values()].sort((a, b) => a.at - b.at);
  }

  clear(): void {
    this.#free.push(...this.#buckets.values());
    this.#buckets.clear();
  }

  #bucketOf(at: number): BucketCounts {
    const known = this.#buckets.get(at);
    if (known !== undefined) return known;
    const bucket = this.#empty(at);
    this.#buckets.set(at, bucket);
    return bucket;
  }

  #empty(at: number): BucketCounts {
    const used = this.#free.pop();
    if (used === undefined) {
      return { at, has: new Uint8Array(this.size), counts: new Float64Array(3 * this.size) };
    }
    used.has.fill(0);
    used.counts.fill(0);
    return { ...used, at };
  }
}
