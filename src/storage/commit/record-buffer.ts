import { assert } from '../../runtime/assert.ts';

/** Maximum number of spare arrays. The next constant is the maximum size of a spare array in bytes. */
const maxSpares = 16;
const maxBytes = 1024 * 1024;
const firstLength = 5 * 1024;

/**
 * Arrays that the service's thread and a worker share: a lane fills arrays while the worker reads others. Reuse avoids
 * allocations, and sharing avoids copies. The first element of an array is the number of its batch.
 */
export class RecordArrays {
  readonly #spares: Float64Array[] = [];
  #lastBatch = 0;

  nextBatch(): number {
    this.#lastBatch += 1;
    return this.#lastBatch;
  }

  take(batch: number): Float64Array {
    const array = this.#spares.pop() ?? createArray(firstLength);
    array[0] = batch;
    return array;
  }

  grow(array: Float64Array): Float64Array {
    const larger = createArray(array.length * 2);
    larger.set(array);
    this.give(array);
    return larger;
  }

  give(array: Float64Array): void {
    assert(!this.#spares.includes(array), 'an array of records is given back once');
    if (this.#spares.length < maxSpares && array.byteLength <= maxBytes) this.#spares.push(array);
  }
}

function createArray(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

/**
 * The index of the first record. The two elements before it are the number of the batch and, once the batch is sealed,
 * the number of records.
 */
const header = 2;
/** Numbers per record, for records of every kind. */
const width = 5;

const none: Float64Array = new Float64Array(0);

export const recordBytes = width * Float64Array.BYTES_PER_ELEMENT;

/** The records of one kind in a sealed batch, as the worker receives them. The array is in shared memory. */
export interface SealedRecords {
  readonly array: Float64Array;
  readonly records: number;
}

/**
 * The records of one kind in a batch: five numbers each. This class writes them on the service's thread; `eachRecord`
 * reads them on the thread of the worker. The other files of this folder define the meaning of the numbers.
 */
export abstract class RecordBuffer {
  readonly #arrays: RecordArrays;
  readonly #batch: number;
  #array = none;
  #end = header;
  /** The end of the array. It is 0 without an array and after sealing, so that adding a record needs only one check. */
  #room = 0;
  #sealed = false;

  /** @param batch number of the batch: see `RecordArrays` */
  constructor(arrays: RecordArrays, batch: number) {
    this.#arrays = arrays;
    this.#batch = batch;
  }

  get records(): number {
    return (this.#end - header) / width;
  }

  protected append(a: number, b: number, c: number, d: number, e: number): void {
    const at = this.#end;
    if (at >= this.#room) this.#makeRoom();
    const array = this.#array;
    array[at] = a;
    array[at + 1] = b;
    array[at + 2] = c;
    array[at + 3] = d;
    array[at + 4] = e;
    this.#end = at + width;
  }

  seal(): SealedRecords | undefined {
    assert(!this.#sealed, 'a batch is sealed once');
    this.#sealed = true;
    this.#room = 0;
    if (this.records === 0) return undefined;
    this.#array[1] = this.records;
    return { array: this.#array, records: this.records };
  }

  release(): void {
    assert(this.#sealed, 'the records of a batch that is being filled are not released');
    if (this.#array !== none) this.#arrays.give(this.#array);
    this.#array = none;
  }

  #makeRoom(): void {
    assert(!this.#sealed, 'a batch is not added to once it is sealed');
    this.#array = this.#array === none ? this.#arrays.take(this.#batch) : this.#arrays.grow(this.#array);
    this.#room = this.#array.length - width + 1;
  }
}

export function viewBytes(sealed: SealedRecords | undefined, batch: number): Uint8Array {
  if (sealed === undefined) return new Uint8Array(0);
  const { array, records } = sealed;
  assert(array[0] === batch && array[1] === records, 'an array of records belongs to the batch that is read');
  const { BYTES_PER_ELEMENT } = Float64Array;
  return new Uint8Array(array.buffer, array.byteOffset, (header + records * width) * BYTES_PER_ELEMENT);
}

/** Joins records of one kind from several batches into one batch, without copying the records. */
export function joinWholes(wholes: readonly Uint8Array[], batch: number): Uint8Array[] {
  const headerBytes = header * Float64Array.BYTES_PER_ELEMENT;
  const contents = wholes.filter(({ length }) => length > 0).map((whole) => whole.subarray(headerBytes));
  const bytes = contents.reduce((sum, { length }) => sum + length, 0);
  if (bytes === 0) return [];
  return [new Uint8Array(Float64Array.of(batch, bytes / recordBytes).buffer), ...contents];
}

/** Reads the records of a kind from their bytes. Copies the bytes only if they are unaligned. */
export function sealedFrom(bytes: Uint8Array): SealedRecords {
  const { BYTES_PER_ELEMENT } = Float64Array;
  const isAligned = bytes.byteOffset % BYTES_PER_ELEMENT === 0;
  const { buffer, byteOffset, byteLength } = isAligned ? bytes : new Uint8Array(bytes);
  const array = new Float64Array(buffer, byteOffset, byteLength / BYTES_PER_ELEMENT);
  return { array, records: array[1]! };
}

export type RecordRange = readonly [from: number, to: number];

type Visit = (a: number, b: number, c: number, d: number, e: number) => void;

/**
 * Reads the records of one kind in the order of their addition.
 * @param apart ranges to skip, ascending
 * @throws {AssertionError} if the array was changed, or was reused for another batch
 */
export function eachRecord(
  sealed: SealedRecords | undefined,
  batch: number,
  visit: Visit,
  apart: readonly RecordRange[] = nothingApart,
): void {
  if (sealed === undefined) return;
  let from = 0;
  for (const range of apart) {
    eachRecordIn(sealed, batch, [from, range[0]], visit);
    from = range[1];
  }
  eachRecordIn(sealed, batch, [from, sealed.records], visit);
}

const nothingApart: readonly RecordRange[] = [];

export function eachRecordIn(
  sealed: SealedRecords | undefined,
  batch: number,
  [from, to]: RecordRange,
  visit: Visit,
): void {
  if (sealed === undefined || from === to) return;
  const { array, records } = sealed;
  assert(from < to && to <= records, 'a range of records is one of the batch');
  assert(header + records * width <= array.length, 'the records of a batch are whole');
  assert(array[0] === batch, 'an array of records belongs to the batch that is read');
  assert(array[1] === records, 'as many records are read as were added');
  const end = header + to * width;
  for (let at = header + from * width; at < end; at += width) {
    visit(array[at]!, array[at + 1]!, array[at + 2]!, array[at + 3]!, array[at + 4]!);
  }
  assert(array[0] === batch, 'an array of records is not reused while it is read');
}
