import type { ServiceStatus } from '../../../contract/shapes/status.ts';

/** Seconds between two samples. */
export const recentWidth = 2;
/** Maximum and minimum number of drawn samples. */
const [maxCount, minCount] = [150, 15];
/** After a longer pause, such as in a hidden tab, the chart restarts, s. */
const pause = 3 * recentWidth;

/** A drawn status. */
export interface Sample {
  /** Unix seconds. */
  readonly at: number;
  readonly taken: number;
  readonly refused: number;
}

export interface RecentSeries {
  /** Unix seconds. */
  readonly start: number;
  readonly count: number;
  readonly taken: readonly number[];
  readonly refused: readonly number[];
}

/** The statuses of the last minutes. */
export class Recent {
  #samples: Sample[] = [];

  add({ at, packetsPerSecond, reportsPerSecond, refusedPerSecond }: ServiceStatus): void {
    const time = Date.parse(at) / 1000;
    const last = this.#samples.at(-1);
    if (last !== undefined && time <= last.at) return;
    if (last !== undefined && time > last.at + pause) this.#samples = [];
    this.#samples.push({ at: time, taken: packetsPerSecond + reportsPerSecond, refused: refusedPerSecond });
    const oldest = time - recentWidth * maxCount;
    while (this.#samples[0] !== undefined && this.#samples[0].at <= oldest) this.#samples.shift();
  }

  /** The samples since the last pause, in equal steps. */
  get series(): RecentSeries {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const end = Math.floor((last?.at ?? 0) / recentWidth);
    const seen = end - Math.floor((first?.at ?? 0) / recentWidth) + 1;
    const count = Math.min(maxCount, Math.max(minCount, seen));
    const start = (end - count + 1) * recentWidth;
    const shown = Array.from({ length: count }, (_, index) => {
      const until = start + (index + 1) * recentWidth;
      // A status is valid until the next one, which may be a little late.
      return this.#samples.findLast(({ at }) => at < until && at >= until - pause);
    });
    return {
      start,
      count,
      taken: shown.map((sample) => sample?.taken ?? 0),
      refused: shown.map((sample) => sample?.refused ?? 0),
    };
  }
}
