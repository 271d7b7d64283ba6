import { ApiError } from '../contract/errors.ts';
import { RoundRobin } from './round-robin.ts';

/** How much work may run, and wait. */
export interface QueueBounds {
  /** Tasks that run at once, at most one of each owner. */
  readonly atOnce: number;
  /** Tasks of one owner that may wait. */
  readonly waitingEach: number;
  /** Tasks of all owners that may wait. */
  readonly waitingAll: number;
  /** Messages of the refusals: when one owner queues too much, and when all owners together do. */
  readonly refusals: { readonly each: string; readonly all: string };
}

/**
 * Shares a scarce resource among owners, round-robin. Each owner has at most one running task, and goes to the end of the
 * queue when it ends. An owner with many tasks delays only their own.
 */
export class FairQueue {
  readonly #bounds: QueueBounds;
  /** Callbacks that start the waiting tasks. */
  readonly #waiting = new RoundRobin<() => void>();
  readonly #busy = new Set<string>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /**
   * Runs a task when its owner has a turn.
   * @throws {ApiError} `rate_limited` when the owner has too many waiting, `backpressure` when all owners together do
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(owner);
    try {
      return await work();
    } finally {
      this.#busy.delete(owner);
      this.#waiting.putLast(owner);
      this.#startNext();
    }
  }

  /** Checks whether the owner may add a task. Throws like `run`. */
  checkRoom(owner: string): void {
    const { atOnce, waitingEach, waitingAll, refusals } = this.#bounds;
    if (!this.#busy.has(owner) && this.#busy.size < atOnce) return;
    if (this.#waiting.weightOf(owner) >= waitingEach) throw new ApiError('rate_limited', refusals.each, 2);
    if (this.#waiting.weight >= waitingAll) throw new ApiError('backpressure', refusals.all, 2);
  }

  #enter(owner: string): Promise<void> {
    this.checkRoom(owner);
    return new Promise((start) => {
      this.#waiting.add(owner, start, 1);
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#busy.size < this.#bounds.atOnce) {
      const next = this.#waiting.take((owner) => !this.#busy.has(owner));
      if (next === undefined) return;
      this.#busy.add(next.owner);
      next.item();
    }
  }
}
