import type { Outcome } from './ask.ts';

/** One of the requests that count in a series. */
export interface CountedRequest {
  /** Count that the request adds. It is a power of four that no other request of the series adds. */
  readonly count: number;
  outcome: Outcome | 'pending';
  /** Time when the outcome became known, Unix ms. */
  at?: number;
}

/**
 * Requests that can be identified in a sum. Each request adds a different power of four. The base-four digit of a
 * request in the sum is the number of times that the request was counted.
 */
export class Digits {
  /** Number of base-four digits in a count, which is an integer below 2^31. */
  static readonly most = 15;
  readonly #requests: CountedRequest[] = [];

  get requests(): readonly CountedRequest[] {
    return this.#requests;
  }

  get isFull(): boolean {
    return this.#requests.length === Digits.most;
  }

  next(): CountedRequest {
    const request: CountedRequest = { count: 4 ** this.#requests.length, outcome: 'pending' };
    this.#requests.push(request);
    return request;
  }

  /**
   * Lists the requests that a sum lacks or contains more than once.
   * @param through only requests accepted before this time (Unix ms) must be in the sum
   */
  faults(sum: number, through = Number.POSITIVE_INFINITY): string[] {
    if (sum >= 4 ** this.#requests.length)
      return [`the sum ${sum} is more than ${this.#requests.length} requests can add up to`];
    return this.#requests.flatMap(({ outcome, at = 0 }, index) => {
      const times = timesIn(sum, index);
      const least = outcome === 'accepted' && at < through ? 1 : 0;
      const most = outcome === 'refused' ? 0 : 1;
      if (times >= least && times <= most) return [];
      const when = times === 0 ? ` (at ${new Date(at).toISOString()})` : '';
      return [`request ${index} was ${outcome} and is counted ${times} times${when}`];
    });
  }

  /** Treats a sum as correct: marks the requests in the sum as accepted, and all other requests as refused. */
  settle(sum: number): void {
    for (const [index, part] of this.#requests.entries())
      part.outcome = timesIn(sum, index) === 0 ? 'refused' : 'accepted';
  }

  /** Returns the number of requests in a sum. */
  countedIn(sum: number): number {
    return this.#requests.reduce((all, _, index) => all + timesIn(sum, index), 0);
  }
}

function timesIn(sum: number, index: number): number {
  return Math.floor(sum / 4 ** index) % 4;
}
