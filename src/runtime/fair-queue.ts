import { Refusal } from '../contract/errors.ts';

/** A queued item. Its weight is 1, or for example its number of bytes. */
interface QueuedItem<T> {
  readonly item: T;
  readonly weight: number;
}

interface Queue<T> {
  weight: number;
  readonly waiting: QueuedItem<T>[];
}

export class RoundRobin<T> {
  /** Weight of all waiting items. */
  weight = 0;
  /** Queues by owner. The first owner is served next. */
  readonly #queues = new Map<string, Queue<T>>();

  getWeight(owner: string): number {
    return this.#queues.get(owner)?.weight ?? 0;
  }

  add(owner: string, item: T, weight: number): void {
    const queue = this.#queues.get(owner) ?? { weight: 0, waiting: [] };
    this.#queues.set(owner, queue);
    queue.waiting.push({ item, weight });
    queue.weight += weight;
    this.weight += weight;
  }

  /** Removes and returns the first item of the next owner that `mayGo` accepts. This owner becomes the last. */
  take(mayGo: (owner: string) => boolean): (QueuedItem<T> & { readonly owner: string }) | undefined {
    for (const [owner, queue] of this.#queues) {
      if (!mayGo(owner)) continue;
      const { item, weight } = queue.waiting.shift()!;
      queue.weight -= weight;
      this.weight -= weight;
      if (queue.waiting.length === 0) this.#queues.delete(owner);
      else this.putLast(owner);
      return { owner, item, weight };
    }
    return undefined;
  }

  putLast(owner: string): void {
    const queue = this.#queues.get(owner);
    if (queue === undefined) return;
    this.#queues.delete(owner);
    this.#queues.set(owner, queue);
  }
}

interface QueueBounds {
  /** Maximum number of tasks that run at the same time. An owner has at most one running task. */
  readonly atOnce: number;
  /** Maximum number of waiting tasks of one owner. */
  readonly waitingEach: number;
  /** Maximum number of waiting tasks of all owners. */
  readonly waitingAll: number;
  /** Messages of the refusals: `each` if one owner queues too many tasks, `all` if all owners together do. */
  readonly refusals: { readonly each: string; readonly all: string };
}

/**
 * Shares a scarce resource among owners, round robin. Each owner has at most one running task, so an owner with many
 * tasks delays only its own tasks.
 */
export class FairQueue {
  readonly #bounds: QueueBounds;
  readonly #waiting = new RoundRobin<() => void>();
  readonly #busy = new Set<string>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

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

  checkRoom(owner: string): void {
    const { atOnce, waitingEach, waitingAll, refusals } = this.#bounds;
    if (!this.#busy.has(owner) && this.#busy.size < atOnce) return;
    if (this.#waiting.getWeight(owner) >= waitingEach) throw new Refusal('rate_limited', refusals.each, 2);
    if (this.#waiting.weight >= waitingAll) throw new Refusal('backpressure', refusals.all, 2);
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
