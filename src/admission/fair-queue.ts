import { Refusal } from '../errors.ts';

/** How much work may run, and wait. */
export interface QueueBounds {
  /** Tasks that run at once, each of another owner. */
  readonly atOnce: number;
  /** Tasks of one owner that may wait. */
  readonly waitingEach: number;
  /** Tasks of all owners that may wait. */
  readonly waitingAll: number;
  /** Messages of the refusals: for an owner that queues too much, and for every owner when all together do. */
  readonly refusals: { readonly each: string; readonly all: string };
}

type Start = () => void;

/**
 * Shares a scarce resource among owners, round-robin: each owner has at most one task running, and goes to the end of the
 * line when it ends. An owner with many tasks delays only its own.
 */
export class FairQueue {
  private readonly bounds: QueueBounds;
  /** The waiting tasks of each owner; the first owner is next. */
  private readonly owners = new Map<string, Start[]>();
  private readonly busy = new Set<string>();
  private waiting = 0;

  constructor(bounds: QueueBounds) {
    this.bounds = bounds;
  }

  /**
   * Runs a task when it is its owner's turn.
   * @throws {Refusal} `rate_limited` when the owner has too many waiting, `backpressure` when all owners together do
   */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    await this.enter(owner);
    try {
      return await work();
    } finally {
      this.busy.delete(owner);
      this.comeLast(owner);
      this.startNext();
    }
  }

  /** Throws as `run`. */
  checkRoom(owner: string): void {
    const { atOnce, waitingEach, waitingAll, refusals } = this.bounds;
    if (!this.busy.has(owner) && this.busy.size < atOnce) return;
    if ((this.owners.get(owner)?.length ?? 0) >= waitingEach)
      throw new Refusal('rate_limited', refusals.each, 2);
    if (this.waiting >= waitingAll) throw new Refusal('backpressure', refusals.all, 2);
  }

  private enter(owner: string): Promise<void> {
    this.checkRoom(owner);
    const own = this.owners.get(owner) ?? [];
    return new Promise((start) => {
      this.owners.set(owner, own);
      own.push(start);
      this.waiting += 1;
      this.startNext();
    });
  }

  private comeLast(owner: string): void {
    const own = this.owners.get(owner);
    if (own === undefined) return;
    this.owners.delete(owner);
    this.owners.set(owner, own);
  }

  private startNext(): void {
    for (const [owner, own] of this.owners) {
      if (this.busy.size >= this.bounds.atOnce) return;
      if (this.busy.has(owner)) continue;
      const start = own.shift()!;
      if (own.length === 0) this.owners.delete(owner);
      this.waiting -= 1;
      this.busy.add(owner);
      start();
    }
  }
}
