import { FrameTooLarge } from '../journal/errors.ts';

export interface Appended {
  readonly sequence: number;
  readonly bytes: number;
  /** The generation of the segment, and the used fraction of it, from 0 to 1. */
  readonly segment: number;
  readonly used: number;
}

/** Numbers before the frame: its length, then the rest of `Appended`. */
const numbers = 4;

/**
 * Shared memory that passes frames to the journal's thread and the results of their appends back, one at a time. Cloning frames
 * in messages would take more CPU than writing them.
 */
export class FrameMemory {
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Float64Array;
  readonly #bytes: Uint8Array;

  /** @param shared the memory of the other thread, or the maximum length of a frame. Memory is committed only as frames fill it */
  constructor(shared: SharedArrayBuffer | number) {
    const header = numbers * Float64Array.BYTES_PER_ELEMENT;
    this.shared = typeof shared === 'number' ? new SharedArrayBuffer(header + shared) : shared;
    this.#numbers = new Float64Array(this.shared, 0, numbers);
    this.#bytes = new Uint8Array(this.shared, header);
  }

  /** The newest frame. */
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

  setAppended({ sequence, segment, used }: Omit<Appended, 'bytes'>): void {
    this.#numbers.set([sequence, segment, used], 1);
  }
}
