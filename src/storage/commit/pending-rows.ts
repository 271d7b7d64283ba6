/** Numbers per row: the index of the same person's next row, and the five values. */
const width = 6;
const firstRows = 1024;
const none = -1;

/** Rows that wait for the end of a transaction, in linked lists. They share one array: 100 000 people have a million rows. */
export class PendingRows {
  /** The index that stands for no row. */
  static readonly none = none;
  #numbers = new Float64Array(firstRows * width);
  #end = 0;

  /**
   * Adds a row to the end of a list.
   * @param last the index of its last row, or `none` for a new list
   * @returns the index of the row
   */
  add(last: number, a: number, b: number, c: number, d: number, e: number): number {
    const at = this.#end;
    if (at === this.#numbers.length) this.#grow();
    const numbers = this.#numbers;
    numbers[at] = none;
    numbers[at + 1] = a;
    numbers[at + 2] = b;
    numbers[at + 3] = c;
    numbers[at + 4] = d;
    numbers[at + 5] = e;
    if (last !== none) numbers[last] = at;
    this.#end = at + width;
    return at;
  }

  /** Visits the rows of a list in order. @param first the index of its first row, or `none` */
  each(first: number, visit: (a: number, b: number, c: number, d: number, e: number) => void): void {
    const numbers = this.#numbers;
    for (let at = first; at !== none; at = numbers[at]!) {
      visit(numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!, numbers[at + 4]!, numbers[at + 5]!);
    }
  }

  /** Drops all rows and frees their memory. */
  clear(): void {
    this.#end = 0;
    if (this.#numbers.length > firstRows * width) this.#numbers = new Float64Array(firstRows * width);
  }

  #grow(): void {
    const larger = new Float64Array(this.#numbers.length * 2);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
