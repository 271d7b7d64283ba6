import { ApiError } from '../contract/errors.ts';
import { maxEntries, tooManyEntries } from './entry-limit.ts';
import { recall } from './recalled-texts.ts';

/** How a value is laid out: the low three bits of its tag. */
const varint = 0;
const fixed64 = 1;
const delimited = 2;
const group = 3;
const groupEnd = 4;
const fixed32 = 5;

/** Groups within groups that an unknown field may have: as many as protobuf's own readers allow. */
const deepestGroup = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the fields of a protobuf message in the order they come (https://protobuf.dev/programming-guides/encoding).
 * It trusts nothing: what reaches over the end, or is laid out in another way than its field, is refused, and nothing
 * is allocated but what is returned. Call `next` until it is false, and after each read or `skip` the value of `field`.
 */
export class ProtoReader {
  /** Number of the field whose value comes next. */
  field = 0;
  #layout = 0;
  #at = 0;
  #end: number;
  readonly #bytes: Buffer;
  /** Messages that may still be entered. */
  #entriesLeft: number;
  /** The halves of the varint that was read last; of `low` all 32 bits count, signed or not. */
  #low = 0;
  #high = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = bytes.length;
    this.#entriesLeft = maxEntries('protobuf', bytes.length);
  }

  /** Moves to the next field; false at the end of the message. @throws {ApiError} `invalid_protobuf` */
  next(): boolean {
    if (this.#at === this.#end) return false;
    this.#readVarint();
    this.field = this.#low >>> 3;
    this.#layout = this.#low & 7;
    if (this.field === 0 || this.#high !== 0) throw malformed();
    return true;
  }

  /** An `int32`: of a longer varint the low 32 bits, as protobuf's own readers do. */
  int32(): number {
    this.#expect(varint);
    this.#readVarint();
    return this.#low | 0;
  }

  /** An `int32` that counts; `NaN` when it is negative. */
  count(): number {
    const value = this.int32();
    return value < 0 ? Number.NaN : value;
  }

  /** Adds what a repeated `int32` holds, packed or not, to `all`. */
  int32s(all: number[]): void {
    if (this.#layout !== delimited) {
      all.push(this.int32());
      return;
    }
    const end = this.#takeDelimited();
    while (this.#at < end) {
      this.#readVarint();
      all.push(this.#low | 0);
    }
    if (this.#at > end) throw malformed();
  }

  /** An `int64`, exact up to 2^53. */
  int64(): number {
    this.#expect(varint);
    this.#readVarint();
    return (this.#high | 0) * 2 ** 32 + (this.#low >>> 0);
  }

  /** A `double`, which may be infinite or `NaN`. */
  double(): number {
    this.#expect(fixed64);
    const from = this.#at;
    this.#pass(8);
    return this.#bytes.readDoubleLE(from);
  }

  /** A `string`. @throws {ApiError} `invalid_encoding` when it is not UTF-8 */
  string(): string {
    const end = this.#takeDelimited();
    const text = decode(this.#bytes, this.#at, end);
    this.#at = end;
    return text;
  }

  /** A `string` that is likely to come again, and is no secret. @throws {ApiError} as `string` */
  name(): string {
    const end = this.#takeDelimited();
    const text = recall(this.#bytes, this.#at, end) ?? decode(this.#bytes, this.#at, end);
    this.#at = end;
    return text;
  }

  /**
   * Goes into the message that is the field's value; give what this gives to `leave`, after its last field.
   * @throws {ApiError} `body_too_large` when there are more of them than the size allows
   */
  enter(): number {
    this.#entriesLeft -= 1;
    if (this.#entriesLeft < 0) throw tooManyEntries;
    const outer = this.#end;
    this.#end = this.#takeDelimited();
    return outer;
  }

  leave(outer: number): void {
    this.#end = outer;
  }

  /** Skips the value of an unknown field. @throws {ApiError} `invalid_protobuf` */
  skip(): void {
    switch (this.#layout) {
      case varint:
        this.#readVarint();
        break;
      case fixed64:
        this.#pass(8);
        break;
      case delimited:
        this.#at = this.#takeDelimited();
        break;
      case group:
        this.#skipGroup();
        break;
      case fixed32:
        this.#pass(4);
        break;
      default:
        throw malformed();
    }
  }

  /** Groups are as deep as their sender likes, so there is no recursion here. */
  #skipGroup(): void {
    const open = [this.field];
    while (open.length > 0) {
      if (!this.next() || open.length > deepestGroup) throw malformed();
      if (this.#layout === group) open.push(this.field);
      else if (this.#layout !== groupEnd) this.skip();
      else if (open.pop() !== this.field) throw malformed();
    }
  }

  #expect(layout: number): void {
    if (this.#layout !== layout) throw malformed();
  }

  /** Reads the length of a value and gives where it ends. */
  #takeDelimited(): number {
    this.#expect(delimited);
    this.#readVarint();
    const length = this.#low >>> 0;
    if (this.#high !== 0 || length > this.#end - this.#at) throw malformed();
    return this.#at + length;
  }

  #pass(length: number): void {
    if (length > this.#end - this.#at) throw malformed();
    this.#at += length;
  }

  #readVarint(): void {
    const first = this.#at < this.#end ? this.#bytes[this.#at]! : 0x80;
    if (first < 0x80) {
      this.#at += 1;
      this.#low = first;
      this.#high = 0;
    } else this.#readLongVarint();
  }

  /** Up to 64 bits, seven a byte, the lowest first. */
  #readLongVarint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at === this.#end) throw malformed();
      const byte = this.#bytes[this.#at++]!;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high = bits >>> 4;
      else if (shift > 28) high |= bits << (shift - 32);
      if (byte < 0x80) {
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw malformed();
  }
}

function decode(bytes: Buffer, from: number, end: number): string {
  if (isAscii(bytes, from, end)) return bytes.toString('latin1', from, end);
  try {
    return utf8.decode(bytes.subarray(from, end));
  } catch {
    throw new ApiError('invalid_encoding', 'A text in the message is not UTF-8');
  }
}

/** Most texts are, and need no decoder. */
function isAscii(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) if (bytes[at]! > 0x7f) return false;
  return true;
}

function malformed(): ApiError {
  return new ApiError(
    'invalid_protobuf',
    'The message ends in mid-field, or a field is not laid out as it must be',
  );
}
