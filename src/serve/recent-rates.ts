import type { ServiceStatus } from '../contract/shapes/status.ts';

/** Width of a bucket, s. */
const recentWidth = 5;
const bucketMs = 1000 * recentWidth;
/** Ten minutes. */
const maxBuckets = 120;
/** After a longer pause, such as a suspended machine, the rates restart, ms. */
const longestPauseMs = 60_000;

interface Bucket {
  accepted: number;
  refused: number;
  /** The measured part of the bucket, ms. */
  elapsed: number;
}

/** What was counted since the previous measurement. */
export interface Measured {
  /** Unix ms. */
  readonly at: number;
  /** Since the previous measurement, ms. */
  readonly elapsed: number;
  readonly accepted: number;
  readonly refused: number;
}

/** The rates of the last ten minutes, in memory. They begin when the process starts. */
export class RecentRates {
  /** Buckets since the epoch. */
  #first = 0;
  #buckets: Bucket[] = [];

  add({ at, elapsed, accepted, refused }: Measured): void {
    const bucket = Math.floor(at / bucketMs);
    const behind = bucket - (this.#first + this.#buckets.length - 1);
    if (this.#buckets.length === 0 || behind < 0 || behind * bucketMs > longestPauseMs) {
      this.#first = bucket;
      this.#buckets = [];
    }
    const added = { accepted: 0, refused: 0, elapsed: 0 };
    while (this.#first + this.#buckets.length <= bucket) this.#buckets.push({ ...added });
    // A late measurement covers the buckets that it skipped.
    const covered = this.#buckets.slice(-Math.max(1, behind));
    for (const each of covered) {
      each.accepted += accepted / covered.length;
      each.refused += refused / covered.length;
      each.elapsed += elapsed / covered.length;
    }
    const surplus = Math.max(0, this.#buckets.length - maxBuckets);
    this.#buckets.splice(0, surplus);
    this.#first += surplus;
  }

  show(): ServiceStatus['recent'] {
    const rates = (part: 'accepted' | 'refused') =>
      this.#buckets.map(({ [part]: count, elapsed }) =>
        elapsed > 0 ? rounded((1000 * count) / elapsed) : 0,
      );
    return {
      start: new Date(this.#first * bucketMs).toISOString(),
      width: recentWidth,
      accepted: rates('accepted'),
      refused: rates('refused'),
    };
  }
}

/** A rate with two decimals. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
