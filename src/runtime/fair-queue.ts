import { ApiError } from '../contract/errors.ts';
import { RoundRobin } from './round-robin.ts';

/** Limits on running and waiting work. */
interface QueueBounds {
  /** Maximum number of tasks that run at once, at most one of each owner. */
  readonly atOnce: number;
  /** Maximum number of waiting tasks of one owner. */
  readonly waitingEach: number;
  /** Maximum number of waiting tasks of all owners. */
  readonly waitingAll: number;
  /** Messages of the refusals: if one owner queues too much, and if all owners together do. */
  readonly refusals: { readonly each: string; readonly all: string };
}

/**
 * Shares a scarce resource among owners, round robin. Each owner has at most one running task, and goes to the end of the queue
 * when it ends. An owner with many tasks delays only its own.
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
   * Runs a task when it is its owner's turn.
   * @throws {ApiError} `rate_limited` if the owner has too many waiting tasks, `backpressure` if all owners together do
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
