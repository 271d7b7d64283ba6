/** Something that waits: its weight is what it counts for, such as 1 or its bytes. */
interface Waiting<T> {
  readonly item: T;
  readonly weight: number;
}

interface Line<T> {
  weight: number;
  readonly waiting: Waiting<T>[];
}

/** What waits of several owners, one line for each. They take turns, however much one of them has waiting. */
export class RoundRobin<T> {
  /** Weight of everything that waits. */
  weight = 0;
  /** By owner; the first one is next. */
  readonly #lines = new Map<string, Line<T>>();

  /** Weight of what an owner has waiting. */
  weightOf(owner: string): number {
    return this.#lines.get(owner)?.weight ?? 0;
  }

  /** Adds an item at the end of its owner's line. */
  add(owner: string, item: T, weight: number): void {
    const line = this.#lines.get(owner) ?? { weight: 0, waiting: [] };
    this.#lines.set(owner, line);
    line.waiting.push({ item, weight });
    line.weight += weight;
    this.weight += weight;
  }

  /** Takes the first item of the next owner that may have a turn, and puts the owner behind the others. */
  take(mayGo: (owner: string) => boolean): (Waiting<T> & { readonly owner: string }) | undefined {
    for (const [owner, line] of this.#lines) {
      if (!mayGo(owner)) continue;
      const { item, weight } = line.waiting.shift()!;
      line.weight -= weight;
      this.weight -= weight;
      if (line.waiting.length === 0) this.#lines.delete(owner);
      else this.putLast(owner);
      return { owner, item, weight };
    }
    return undefined;
  }

  /** Puts an owner behind the others. */
  putLast(owner: string): void {
    const line = this.#lines.get(owner);
    if (line === undefined) return;
    this.#lines.delete(owner);
    this.#lines.set(owner, line);
  }
}
