import { Refusal } from '../contract/errors.ts';
import { maxEntries, tooManyEntries } from './entry-limit.ts';

/** Wire types of a value: the low three bits of its tag. */
const varint = 0;
const fixed64 = 1;
const delimited = 2;
const group = 3;
const groupEnd = 4;
const fixed32 = 5;

/** Maximum nesting of groups in an unknown field, as in the official protobuf readers. */
const deepestGroup = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the fields of a protobuf message in order (https://protobuf.dev/programming-guides/encoding). Allocates memory
 * only for returned values. Call `next` until it returns false. After each `next`, read or `skip` the value of `field`.
 */
export class ProtoReader {
  field = 0;
  #layout = 0;
  #at = 0;
  #end: number;
  readonly #bytes: Buffer;
  /** Number of further nested messages that may be entered. */
  #entriesLeft: number;
  /** Halves of the last varint. Either half can be a signed or an unsigned 32-bit integer. */
  #low = 0;
  #high = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = bytes.length;
    this.#entriesLeft = maxEntries('protobuf', bytes.length);
  }

  /** Advances to the next field. @returns false at the end of the message @throws {Refusal} `invalid_protobuf` */
  next(): boolean {
    if (this.#at === this.#end) return false;
    this.#readVarint();
    this.field = this.#low >>> 3;
    this.#layout = this.#low & 7;
    if (this.field === 0 || this.#high !== 0) throw malformed();
    return true;
  }

  /** Reads an `int32`: a longer varint is truncated to its low 32 bits, as in the official protobuf readers. */
  int32(): number {
    this.#expect(varint);
    this.#readVarint();
    return this.#low | 0;
  }

  /** Reads a non-negative `int32`; `NaN` for a negative one. */
  count(): number {
    const value = this.int32();
    return value < 0 ? Number.NaN : value;
  }

  /** Appends the values of a repeated `int32`, packed or not, to `all`. */
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

  /** Reads an `int64`, exact up to 2^53. */
  int64(): number {
    this.#expect(varint);
    this.#readVarint();
    return (this.#high | 0) * 2 ** 32 + (this.#low >>> 0);
  }

  /** Reads a `fixed64`. A negative `sfixed64` becomes a number of at least 2^63. */
  fixed64(): bigint {
    this.#expect(fixed64);
    const from = this.#at;
    this.#pass(8);
    return this.#bytes.readBigUInt64LE(from);
  }

  /** Reads a `double`, which can be infinite or `NaN`. */
  double(): number {
    this.#expect(fixed64);
    const from = this.#at;
    this.#pass(8);
    return this.#bytes.readDoubleLE(from);
  }

  /** Reads a required `string`. @throws {Refusal} `invalid_encoding` if it is not UTF-8 */
  string(): string {
    const text = this.text();
    if (text === notUtf8) throw new Refusal('invalid_encoding', 'A string in the message is not UTF-8');
    return text;
  }

  /** Reads a `string`. Returns `notUtf8` if it is not UTF-8, so that only the entry with this string is left out. */
  text(): string {
    const end = this.#takeDelimited();
    const text = decode(this.#bytes, this.#at, end);
    this.#at = end;
    return text;
  }

  /** Reads a string as `text` does, but through a cache. Use it for strings that are likely to recur and not secret. */
  name(): string {
    const end = this.#takeDelimited();
    const text = recall(this.#bytes, this.#at, end) ?? decode(this.#bytes, this.#at, end);
    this.#at = end;
    return text;
  }

  /** Returns the bytes of a delimited value, as a view of the message's memory. @throws {Refusal} `invalid_protobuf` */
  peekBytes(): Buffer {
    const from = this.#at;
    const end = this.#takeDelimited();
    const start = this.#at;
    this.#at = from;
    return this.#bytes.subarray(start, end);
  }

  /**
   * Enters the nested message in the current field. Pass the result to `leave` after its last field.
   * @throws {Refusal} `body_too_large` if there are more messages than the size allows
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

  /** @throws {Refusal} `invalid_protobuf` */
  skip(): void {
    const layout = this.#layout;
    if (layout === varint) this.#readVarint();
    else if (layout === fixed64) this.#pass(8);
    else if (layout === delimited) this.#at = this.#takeDelimited();
    else if (layout === group) this.#skipGroup();
    else if (layout === fixed32) this.#pass(4);
    else throw malformed();
  }

  /** Skips a group. Not recursive, because the sender chooses the depth of groups. */
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

  /** Reads the length of a value. @returns the position of its end */
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

  /** Reads up to 64 bits, seven per byte, lowest first. */
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

/** Replacement for bytes that are not UTF-8. The replacement cannot be encoded in UTF-8, and is not a valid name. */
const notUtf8 = '\ud800';

function decode(bytes: Buffer, from: number, end: number): string {
  if (isAscii(bytes, from, end)) return bytes.toString('latin1', from, end);
  try {
    return utf8.decode(bytes.subarray(from, end));
  } catch {
    return notUtf8;
  }
}

function isAscii(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) if (bytes[at]! > 0x7f) return false;
  return true;
}

function malformed(): Refusal {
  return new Refusal('invalid_protobuf', 'The message is truncated, or a field has the wrong wire type');
}

/** Number of cached texts, indexed by the hash of their bytes. */
const slots = 4096;
const texts: (string | undefined)[] = new Array<string | undefined>(slots).fill(undefined);

/** Maximum length of a cached text, so that the table stays small. */
const longest = 64;

/**
 * Returns the text of `bytes[from … end - 1]` from a cache; `undefined` unless the text is short and all ASCII. Names
 * in reports recur, and a lookup takes a quarter of the time of a new string. A cached string also keeps its hash,
 * which speeds up map lookups.
 */
export function recall(bytes: Buffer, from: number, end: number): string | undefined {
  if (end - from > longest) return undefined;
  let hash = end - from;
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!;
    if (byte > 0x7f) return undefined;
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  const slot = (hash ^ (hash >>> 15)) & (slots - 1);
  const known = texts[slot];
  if (known !== undefined && isText(known, bytes, from, end)) return known;
  const text = bytes.toString('latin1', from, end);
  texts[slot] = text;
  return text;
}

function isText(text: string, bytes: Buffer, from: number, end: number): boolean {
  if (text.length !== end - from) return false;
  for (let at = from; at < end; at++) if (text.charCodeAt(at - from) !== bytes[at]) return false;
  return true;
}

/** Encodes a non-negative field of type `int32` or `enum`. Empty for 0, as proto3 requires. */
export function numberField(field: number, value: number): Buffer {
  return value === 0 ? nothing : Buffer.from([...encodeVarint(field * 8 + varint), ...encodeVarint(value)]);
}

export function bytesField(field: number, value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([Buffer.from([...encodeVarint(field * 8 + delimited), ...encodeVarint(bytes.length)]), bytes]);
}

export function joinFields(...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat(fields);
}

const nothing = Buffer.alloc(0);

/** @param value from 0 to 2^53 */
function encodeVarint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
