import { Refusal } from '../errors.ts';

/** How much may go on, and wait. */
export interface QueueBounds {
  /** Pieces of work that go on at once, each of another owner. */
  readonly atOnce: number;
  /** Pieces of work of one owner that wait. */
  readonly waitingEach: number;
  /** Pieces of work of all owners that wait. */
  readonly waitingAll: number;
  /** What is said to who asks for too much, and to everyone when all together do. */
  readonly refusals: { readonly each: string; readonly all: string };
}

type Start = () => void;

/**
 * Shares something scarce among owners: each has one piece of work going on at the most, and whose piece ended last comes
 * last. So whoever asks for much waits for it, and nobody else does.
 */
export class FairQueue {
  private readonly bounds: QueueBounds;
  /** The owners that have work: the first is whose turn it is. */
  private readonly owners = new Map<string, Start[]>();
  private readonly busy = new Set<string>();
  private waiting = 0;

  constructor(bounds: QueueBounds) {
    this.bounds = bounds;
  }

  /**
   * Does a piece of work when it is its owner's turn.
   * @throws {Refusal} `rate_limited` when too much of the owner's waits, `backpressure` when too much of all does
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
