/** A waiting item with its weight, for example 1 or its bytes. */
interface Waiting<T> {
  readonly item: T;
  readonly weight: number;
}

interface Queue<T> {
  weight: number;
  readonly waiting: Waiting<T>[];
}

/** A queue per owner. Owners take turns regardless of the length of their queues. */
export class RoundRobin<T> {
  /** Weight of all waiting items. */
  weight = 0;
  /** By owner, next one first. */
  readonly #queues = new Map<string, Queue<T>>();

  weightOf(owner: string): number {
    return this.#queues.get(owner)?.weight ?? 0;
  }

  add(owner: string, item: T, weight: number): void {
    const queue = this.#queues.get(owner) ?? { weight: 0, waiting: [] };
    this.#queues.set(owner, queue);
    queue.waiting.push({ item, weight });
    queue.weight += weight;
    this.weight += weight;
  }

  /** Removes the first item of the next eligible owner, and moves the owner to the end. */
  take(mayGo: (owner: string) => boolean): (Waiting<T> & { readonly owner: string }) | undefined {
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
