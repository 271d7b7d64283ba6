import type { JournalFile } from './files.ts';
import { type Journal, readAt } from './segment.ts';

/** Maximum and initial read-ahead in bytes. The first read is short, because the rest may not be written yet. */
export const chunk = 1 << 20;
const firstChunk = 1 << 14;

/** Reads a segment in chunks of growing size. Later reads do not change the buffers that it returned. */
export class Window {
  readonly #journal: Journal;
  readonly #name: string;
  readonly #file: JournalFile;
  #offset = 0;
  #bytes = Buffer.alloc(0);
  #ahead = firstChunk;

  constructor(journal: Journal, name: string) {
    this.#journal = journal;
    this.#name = name;
    this.#file = journal.files.open(name, 'read');
  }

  /** Bytes from an offset on; fewer at the end of the file. */
  read(offset: number, length: number): Buffer {
    if (offset < this.#offset || offset + length > this.#offset + this.#bytes.length)
      this.#fill(offset, length);
    const from = offset - this.#offset;
    return this.#bytes.subarray(from, from + length);
  }

  /** Drops read data, because the file may have changed. */
  forget(): void {
    this.#bytes = this.#bytes.subarray(0, 0);
    this.#ahead = firstChunk;
  }

  close(): void {
    this.#file.close();
  }

  #fill(offset: number, length: number): void {
    const bytes = Buffer.allocUnsafe(Math.max(this.#ahead, length));
    const filled = readAt(this.#journal, this.#name, this.#file, bytes, offset);
    this.#bytes = bytes.subarray(0, filled);
    this.#offset = offset;
    this.#ahead = Math.min(2 * this.#ahead, chunk);
  }
}
