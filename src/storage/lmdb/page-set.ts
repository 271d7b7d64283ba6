/** A set of page numbers. */
export class PageSet {
  size = 0;
  readonly #bits: Uint8Array;

  /** @param end one more than the largest number */
  constructor(end: number) {
    this.#bits = new Uint8Array(Math.ceil(end / 8));
  }

  /** Adds numbers that are not in the set yet. */
  add(first: number, count: number): void {
    for (let page = first; page < first + count; page += 1) this.#bits[page >>> 3]! |= 1 << (page % 8);
    this.size += count;
  }

  has(page: number): boolean {
    return ((this.#bits[page >>> 3] ?? 0) & (1 << (page % 8))) !== 0;
  }

  /** Ranges of consecutive numbers, ascending: at most `limit` numbers each. */
  *runs(limit: number): Generator<{ readonly first: number; readonly count: number }> {
    const end = this.#bits.length * 8;
    for (let first = 0; first < end; ) {
      if (this.#bits[first >>> 3] === 0) {
        first = (Math.floor(first / 8) + 1) * 8;
        continue;
      }
      let count = 0;
      while (count < limit && this.has(first + count)) count += 1;
      if (count > 0) yield { first, count };
      first += Math.max(1, count);
    }
  }
}
