interface Above<T> {
  get(key: string): T | undefined;
  has(key: string): boolean;
  pending(): ReadonlyMap<string, T | undefined>;
}

/** The records of a table with what is on its way to the disk. */
export class LayeredRecords<T> implements ReadonlyMap<string, T> {
  readonly #onDisk: ReadonlyMap<string, T>;
  readonly #above: Above<T>;

  constructor(onDisk: ReadonlyMap<string, T>, above: Above<T>) {
    this.#onDisk = onDisk;
    this.#above = above;
  }

  get size(): number {
    let size = this.#onDisk.size;
    for (const [key, value] of this.#above.pending())
      size += Number(value !== undefined) - Number(this.#onDisk.has(key));
    return size;
  }

  get(key: string): T | undefined {
    return this.#above.get(key);
  }

  has(key: string): boolean {
    return this.#above.has(key);
  }

  *entries(): Generator<[string, T], undefined> {
    const pending = this.#above.pending();
    for (const entry of this.#onDisk) if (!pending.has(entry[0])) yield entry;
    for (const [key, value] of pending) if (value !== undefined) yield [key, value];
  }

  *keys(): Generator<string, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<T, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, T], undefined> {
    return this.entries();
  }

  forEach(action: (value: T, key: string, map: ReadonlyMap<string, T>) => void): void {
    for (const [key, value] of this.entries()) action(value, key, this);
  }
}
