import type { Outcome } from './ask.ts';

/** One request of a series. */
export interface Part {
  /** What it adds to the sum: a power of four of its own. */
  readonly count: number;
  outcome: Outcome | 'pending';
  /** When the outcome was known, Unix ms. */
  at?: number;
}

/**
 * Requests of which a sum tells each one: every request adds its own power of four, so the digit of the sum to the base of four says
 * how often the request was counted.
 */
export class Digits {
  /** As many digits as a count holds, which is an integer below 2^31. */
  static readonly most = 15;
  readonly #parts: Part[] = [];

  get parts(): readonly Part[] {
    return this.#parts;
  }

  get isFull(): boolean {
    return this.#parts.length === Digits.most;
  }

  next(): Part {
    const part: Part = { count: 4 ** this.#parts.length, outcome: 'pending' };
    this.#parts.push(part);
    return part;
  }

  /**
   * What is wrong with a sum: requests that it lacks or has more than once.
   * @param through it has to have only what was accepted before this time, Unix ms
   */
  faults(sum: number, through = Number.POSITIVE_INFINITY): string[] {
    if (sum >= 4 ** this.#parts.length)
      return [`the sum ${sum} is more than ${this.#parts.length} requests can make`];
    return this.#parts.flatMap(({ outcome, at = 0 }, index) => {
      const times = timesIn(sum, index);
      const [least, most] = [outcome === 'accepted' && at < through ? 1 : 0, outcome === 'refused' ? 0 : 1];
      if (times >= least && times <= most) return [];
      const when = times === 0 ? ` (at ${new Date(at).toISOString()})` : '';
      return [`request ${index} was ${outcome} and is counted ${times} times${when}`];
    });
  }

  /** Takes a sum for the truth: what it holds was accepted, and the rest refused. */
  settle(sum: number): void {
    for (const [index, part] of this.#parts.entries())
      part.outcome = timesIn(sum, index) === 0 ? 'refused' : 'accepted';
  }

  /** How many requests a sum holds. */
  countedIn(sum: number): number {
    return this.#parts.reduce((all, _, index) => all + timesIn(sum, index), 0);
  }
}

function timesIn(sum: number, index: number): number {
  return Math.floor(sum / 4 ** index) % 4;
}
