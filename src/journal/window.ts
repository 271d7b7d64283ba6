import type { JournalFile } from './files.ts';

/** Bytes that are read at once. */
export const chunk = 1 << 20;

/** Reads a file in large chunks. What it returns is valid until the next call. */
export class Window {
  readonly #file: JournalFile;
  #bytes = Buffer.alloc(0);
  /** The offset of the first byte, and the number of bytes that were read. */
  #offset = 0;
  #filled = 0;

  constructor(file: JournalFile) {
    this.#file = file;
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
    const wanted = Math.max(chunk, length);
    if (this.#bytes.length !== wanted) this.#bytes = Buffer.alloc(wanted);
    this.#filled = this.#file.read(this.#bytes, offset);
    this.#offset = offset;
  }
}
