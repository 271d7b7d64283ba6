import type { JournalFile } from './files.ts';
import { type Journal, readAt } from './segment.ts';

/** Bytes that are read at once. */
export const chunk = 1 << 20;

/** Reads a segment in large chunks. What it returns is valid until the next call. */
export class Window {
  readonly #journal: Journal;
  readonly #name: string;
  readonly #file: JournalFile;
  #bytes = Buffer.alloc(0);
  /** The offset of the first byte, and the number of bytes that were read. */
  #offset = 0;
  #filled = 0;

  constructor(journal: Journal, name: string) {
    this.#journal = journal;
    this.#name = name;
    this.#file = journal.files.open(name, 'read');
  }

  /** Bytes from an offset on; fewer at the end of the file. */
  read(offset: number, length: number): Buffer {
    if (offset < this.#offset || offset + length > this.#offset + this.#filled) this.#fill(offset, length);
    const from = offset - this.#offset;
    return this.#bytes.subarray(from, Math.min(from + length, this.#filled));
  }

  /** Forgets what was read: the file may have changed. */
  forget(): void {
    this.#filled = 0;
  }

  close(): void {
    this.#file.close();
  }

  #fill(offset: number, length: number): void {
    const wanted = Math.max(Math.min(chunk, this.#journal.segmentSize), length);
    if (this.#bytes.length !== wanted) this.#bytes = Buffer.alloc(wanted);
    this.#filled = readAt(this.#journal, this.#name, this.#file, this.#bytes, offset);
    this.#offset = offset;
  }
}
