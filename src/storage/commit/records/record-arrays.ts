import { assert } from '../../../runtime/assert.ts';

/** Maximum number of spare arrays, and maximum bytes of an array that is kept. */
const maxSpares = 16;
const maxBytes = 1024 * 1024;
const firstLength = 5 * 1024;

/**
 * Arrays that the service's thread and a worker share and reuse: a lane fills some while the worker reads others. A batch then
 * allocates nothing, and nothing is copied or transferred between the threads. The first number of an array is the batch it
 * belongs to.
 */
export class RecordArrays {
  readonly #spares: Float64Array[] = [];
  #lastBatch = 0;

  /** The number of the next batch, which identifies its arrays. */
  nextBatch(): number {
    this.#lastBatch += 1;
    return this.#lastBatch;
  }

  /** Returns an array for a batch, with old data from earlier use. */
  take(batch: number): Float64Array {
    const array = this.#spares.pop() ?? createArray(firstLength);
    array[0] = batch;
    return array;
  }

  /** Moves the content to an array of twice the length, and takes the old one back. */
  grow(array: Float64Array): Float64Array {
    const larger = createArray(array.length * 2);
    larger.set(array);
    this.give(array);
    return larger;
  }

  /** Takes back an array that neither thread uses. */
  give(array: Float64Array): void {
    assert(!this.#spares.includes(array), 'an array of records is given back once');
    if (this.#spares.length < maxSpares && array.byteLength <= maxBytes) this.#spares.push(array);
  }
}

function createArray(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}
