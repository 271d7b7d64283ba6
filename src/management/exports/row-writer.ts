import { type Cell, type RowFormat, styles } from './row-format.ts';

/** The columns of a report's rows, in their order. */
export type Columns = Readonly<Record<string, { readonly description: string; readonly example: Cell }>>;

/** The most bytes of a chunk. */
export const chunkBytes = 128 * 1024;

const utf8 = new TextEncoder();
const zero = 48;

/** From here on a number is written as text: it is rare, or has a sign, a fraction or an exponent. */
const mostDigits = 2 ** 31;

/**
 * Writes rows as bytes, into one piece of memory. Millions of rows make no garbage: what repeats from row to row is a part that is
 * written once and copied, and numbers are written digit by digit.
 */
export class RowWriter {
  readonly #cell: (value: Cell) => string;
  readonly #before: readonly Uint8Array[];
  readonly #end: Uint8Array;
  #memory = new Uint8Array(chunkBytes + 4096);
  #length = 0;

  constructor(format: RowFormat, columns: Columns) {
    const { head, before, cell, end } = styles[format];
    const names = Object.keys(columns);
    this.#cell = cell;
    this.#before = names.map((name, at) => utf8.encode(before(name, at === 0)));
    this.#end = utf8.encode(end);
    this.add(utf8.encode(head(names)));
  }

  /** Whether there is enough for a chunk. */
  get isFull(): boolean {
    return this.#length >= chunkBytes;
  }

  /** Neighbouring cells as rows have them. @param first the column of the first one */
  part(first: number, cells: readonly Cell[]): Uint8Array {
    const parts = cells.map((cell, at) => [this.#before[first + at]!, utf8.encode(this.#cell(cell))]);
    return Buffer.concat(parts.flat());
  }

  /** Goes on with the row by a part. */
  add(part: Uint8Array): void {
    this.#makeRoom(part.length);
    this.#memory.set(part, this.#length);
    this.#length += part.length;
  }

  /** Goes on with the row by a number. */
  number(column: number, value: number): void {
    if (value >= 0 && value < mostDigits && Number.isInteger(value)) {
      this.add(this.#before[column]!);
      this.#digits(value);
    } else {
      this.add(this.part(column, [value]));
    }
  }

  /** Ends the row. */
  end(): void {
    this.add(this.#end);
  }

  /** Moves what was written, in its order, as far as there is room. @returns how many bytes */
  moveTo(chunk: Uint8Array): number {
    const moved = Math.min(this.#length, chunk.length);
    chunk.set(this.#memory.subarray(0, moved));
    this.#memory.copyWithin(0, moved, this.#length);
    this.#length -= moved;
    return moved;
  }

  /** All that was written, and not moved. */
  rest(): Uint8Array {
    return this.#memory.subarray(0, this.#length);
  }

  #digits(value: number): void {
    const end = this.#length + digitsOf(value);
    this.#makeRoom(end - this.#length);
    for (let at = end - 1, rest = value; at >= this.#length; at -= 1) {
      const tenth = (rest / 10) | 0;
      this.#memory[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = end;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#memory.length) return;
    const memory = new Uint8Array(2 * needed);
    memory.set(this.#memory);
    this.#memory = memory;
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let next = 10; value >= next; next *= 10) digits += 1;
  return digits;
}
