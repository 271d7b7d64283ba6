import type { Reading } from '../../store/snapshot.ts';
import type { Cell, RowWriter } from './row-writer.ts';

/** The text of rows, while they are read. It pauses wherever other work may run. No snapshot is open when it gives text. */
export type Rows = Generator<string | undefined, void, undefined>;

/** Characters of a piece of text that rows are given in. */
const stretch = 2 * 1024;

/** Collects rows to pieces of text: giving each row by itself would cost more than making it. */
export class RowText {
  #text = '';

  /** @returns the text, when there is enough of it; else it is kept */
  add(row: string): string | undefined {
    this.#text += row;
    return this.#text.length < stretch ? undefined : this.rest();
  }

  /** What is left. */
  rest(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** The rows of what is few enough to be in memory. */
export function* rowsOf<T>(
  writer: RowWriter,
  items: Iterable<T>,
  cellsOf: (item: T) => readonly Cell[],
): Rows {
  const text = new RowText();
  for (const item of items) {
    const full = text.add(writer.row(writer.part(0, cellsOf(item))));
    if (full !== undefined) yield full;
  }
  yield text.rest();
}

/** Bytes of a chunk, at least. */
const chunkBytes = 128 * 1024;

/** The most bytes of UTF-8 that a character of a string takes. */
const bytesEach = 3;

/** A chunk of an export's text. */
export interface Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** Writes the text of rows as chunks of bytes. Its memory is used again for the next chunk. */
export class Chunks {
  readonly #rows: Rows;
  readonly #encoder = new TextEncoder();
  #memory = new Uint8Array(chunkBytes + bytesEach * stretch);
  #length = 0;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Reads the next chunk. When this is left before its end, the rows are closed, with their snapshot. */
  *next(): Reading<Chunk> {
    let isRead = false;
    this.#length = 0;
    try {
      while (this.#length < chunkBytes) {
        const { value, done } = this.#rows.next();
        if (value !== undefined) this.#add(value);
        else if (done) {
          isRead = true;
          return this.#chunk(true);
        } else yield;
      }
      isRead = true;
      return this.#chunk(false);
    } finally {
      if (!isRead) this.#rows.return();
    }
  }

  #add(text: string): void {
    const needed = this.#length + bytesEach * text.length;
    if (needed > this.#memory.length) {
      const memory = new Uint8Array(needed);
      memory.set(this.#memory);
      this.#memory = memory;
    }
    this.#length += this.#encoder.encodeInto(text, this.#memory.subarray(this.#length)).written;
  }

  #chunk(isLast: boolean): Chunk {
    return { bytes: this.#memory.slice(0, this.#length), isLast };
  }
}
