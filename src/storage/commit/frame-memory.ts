import { FrameTooLarge } from '../journal/errors.ts';

/** What an append has done. */
export interface Appended {
  /** The number of the frame. */
  readonly sequence: number;
  readonly bytes: number;
  /** The generation of the segment, and how much of it is used, from 0 to 1. */
  readonly segment: number;
  readonly used: number;
}

/** Numbers before the frame: its length, then the rest of `Appended`. */
const numbers = 4;

/**
 * Memory through which frames pass to the journal's thread, and the results of their appends come back: one at a time. Cloning them in
 * messages would take more CPU than writing them.
 */
export class FrameMemory {
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Float64Array;
  readonly #bytes: Uint8Array;

  /** @param shared of the other thread, or the largest length of a frame: memory is taken as far as frames fill it */
  constructor(shared: SharedArrayBuffer | number) {
    const header = numbers * Float64Array.BYTES_PER_ELEMENT;
    this.shared = typeof shared === 'number' ? new SharedArrayBuffer(header + shared) : shared;
    this.#numbers = new Float64Array(this.shared, 0, numbers);
    this.#bytes = new Uint8Array(this.shared, header);
  }

  /** The frame that was put last. */
  get frame(): Uint8Array {
    return this.#bytes.subarray(0, this.#numbers[0]);
  }

  /** @throws {FrameTooLarge} */
  put(parts: readonly Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length > this.#bytes.length) throw new FrameTooLarge(length, this.#bytes.length);
    let at = 0;
    for (const part of parts) {
      this.#bytes.set(part, at);
      at += part.length;
    }
    this.#numbers[0] = length;
  }

  get appended(): Appended {
    const [bytes, sequence, segment, used] = this.#numbers as unknown as [number, number, number, number];
    return { bytes, sequence, segment, used };
  }

  /** Sets what the append of the frame has done. */
  setAppended({ sequence, segment, used }: Omit<Appended, 'bytes'>): void {
    this.#numbers.set([sequence, segment, used], 1);
  }
}
