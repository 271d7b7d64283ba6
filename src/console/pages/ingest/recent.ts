import type { ServiceStatusShown } from '../../../contract/shapes/status.ts';

/** Seconds between two statuses, and how many are drawn. */
export const recentWidth = 2;
const recentCount = 150;
/** The narrowest chart. */
const fewest = 15;
/** After a pause that long, as of a hidden tab, the chart begins anew, s. */
const pause = 3 * recentWidth;

/** What is drawn of a status. */
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

/** The statuses of the last minutes, as long as the page is open. */
export class Recent {
  #samples: Sample[] = [];

  add({ at, packetsPerSecond, reportsPerSecond, refusedPerSecond }: ServiceStatusShown): void {
    const time = Date.parse(at) / 1000;
    const last = this.#samples.at(-1);
    if (last !== undefined && time <= last.at) return;
    if (last !== undefined && time > last.at + pause) this.#samples = [];
    this.#samples.push({ at: time, taken: packetsPerSecond + reportsPerSecond, refused: refusedPerSecond });
    const oldest = time - recentWidth * recentCount;
    while (this.#samples[0] !== undefined && this.#samples[0].at <= oldest) this.#samples.shift();
  }

  /** What was seen without a pause, in equal steps. */
  get series(): RecentSeries {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const end = Math.floor((last?.at ?? 0) / recentWidth);
    const seen = end - Math.floor((first?.at ?? 0) / recentWidth) + 1;
    const count = Math.min(recentCount, Math.max(fewest, seen));
    const start = (end - count + 1) * recentWidth;
    const shown = Array.from({ length: count }, (_, index) => {
      const until = start + (index + 1) * recentWidth;
      // A status stands until the next one, which comes a little late now and then.
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
