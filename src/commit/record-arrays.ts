import { recordWidth } from './envelope.ts';

/** Spare arrays that are kept, and the bytes up to which one is worth keeping. */
const maxSpares = 16;
const maxBytes = 1024 * 1024;
const firstRecords = 1024;

/**
 * Arrays of records that both the front end and a worker can see. They go round: a lane fills one while the worker
 * reads another, so a batch allocates nothing, and nothing is copied or transferred between the threads.
 */
export class RecordArrays {
  readonly #spares: Float64Array[] = [];

  /** An array with room for some records; what is in it is left over from earlier use. */
  take(): Float64Array {
    return this.#spares.pop() ?? createArray(firstRecords * recordWidth);
  }

  /** A larger array with the same content; the old one goes back. */
  grow(array: Float64Array): Float64Array {
    const larger = createArray(array.length * 2);
    larger.set(array);
    this.give(array);
    return larger;
  }

  /** Takes an array back that nobody reads any more. */
  give(array: Float64Array): void {
    if (this.#spares.length < maxSpares && array.byteLength <= maxBytes) this.#spares.push(array);
  }
}

function createArray(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}
