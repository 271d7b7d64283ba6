import { assert } from '../../../runtime/assert.ts';

/** Spare arrays that are kept, and the bytes up to which one is worth keeping. */
const maxSpares = 16;
const maxBytes = 1024 * 1024;
const firstLength = 5 * 1024;

/**
 * Arrays that the service's thread and a worker share. They go round: a lane fills some while the worker reads others, so
 * a batch allocates nothing, and nothing is copied or transferred between the threads. The first number of an array is
 * the batch that it belongs to.
 */
export class RecordArrays {
  readonly #spares: Float64Array[] = [];
  #lastBatch = 0;

  /** The number of the next batch, by which its arrays are told from others'. */
  nextBatch(): number {
    this.#lastBatch += 1;
    return this.#lastBatch;
  }

  /** An array for a batch; what else is in it is left over from earlier use. */
  take(batch: number): Float64Array {
    const array = this.#spares.pop() ?? createArray(firstLength);
    array[0] = batch;
    return array;
  }

  /** An array of twice the length with the same content; the old one goes back. */
  grow(array: Float64Array): Float64Array {
    const larger = createArray(array.length * 2);
    larger.set(array);
    this.give(array);
    return larger;
  }

  /** Takes back an array that neither thread uses any more. */
  give(array: Float64Array): void {
    assert(!this.#spares.includes(array), 'an array of records is given back once');
    if (this.#spares.length < maxSpares && array.byteLength <= maxBytes) this.#spares.push(array);
  }
}

function createArray(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}
