import type { Reading } from '../../storage/lmdb/snapshot.ts';
import { type Cell, chunkBytes, type RowWriter } from './row-writer.ts';

/**
 * A reading that writes rows while it reads them. It pauses for other work, and when the writer is full. No snapshot is
 * open while rows are written.
 */
export type Rows = Reading<void>;

/** Writes the rows of items in memory. */
export function* writeRows<T>(writer: RowWriter, items: Iterable<T>, listCells: (item: T) => readonly Cell[]): Rows {
  for (const item of items) {
    writer.add(writer.encode(0, listCells(item)));
    writer.end();
    if (writer.isFull) yield;
  }
}

/** A chunk of an export in shared memory. */
export interface Chunk {
  readonly length: number;
  readonly isLast: boolean;
}

/** Creates shared memory for two chunks. While one chunk is sent, the next chunk is written. */
export function chunkMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * chunkBytes);
}

/** Returns the memory of a chunk. @param number number of the chunk, from 0 */
export function placeOfChunk(memory: SharedArrayBuffer, number: number): Uint8Array {
  return new Uint8Array(memory, (number % 2) * chunkBytes, chunkBytes);
}

export class Chunks {
  readonly #writer: RowWriter;
  readonly #rows: Rows;
  readonly #memory: SharedArrayBuffer;
  #number = 0;
  #allWritten = false;

  constructor(writer: RowWriter, rows: Rows, memory: SharedArrayBuffer) {
    this.#writer = writer;
    this.#rows = rows;
    this.#memory = memory;
  }

  /** Reads the next chunk. If this reading is abandoned, it closes the rows and their snapshot. */
  *next(): Reading<Chunk> {
    let isRead = false;
    try {
      while (!this.#writer.isFull && !this.#allWritten) {
        this.#allWritten = this.#rows.next().done === true;
        yield;
      }
      isRead = true;
      return this.#chunk();
    } finally {
      if (!isRead) this.#rows.return();
    }
  }

  #chunk(): Chunk {
    const length = this.#writer.moveTo(placeOfChunk(this.#memory, this.#number));
    this.#number += 1;
    return { length, isLast: this.#allWritten && this.#writer.rest().length === 0 };
  }
}
