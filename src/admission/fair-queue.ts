import { Refusal } from '../errors.ts';

/** How much may go on, and wait. */
export interface QueueBounds {
  /** Pieces of work that go on at once, each of another owner. */
  readonly atOnce: number;
  /** Pieces of work of one owner that wait. */
  readonly waitingEach: number;
  /** Pieces of work of all owners that wait. */
  readonly waitingAll: number;
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

  private enter(owner: string): Promise<void> {
    const own = this.owners.get(owner) ?? [];
    const mustWait = this.busy.has(owner) || this.busy.size >= this.bounds.atOnce;
    if (mustWait && own.length >= this.bounds.waitingEach)
      throw new Refusal('rate_limited', 'Too many reports of this team are waiting', 2);
    if (mustWait && this.waiting >= this.bounds.waitingAll)
      throw new Refusal('backpressure', 'Too many reports are waiting', 2);
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
