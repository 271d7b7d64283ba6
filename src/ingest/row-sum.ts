import { murmur3, type UserHash } from './user-hash.ts';

const encoder = new TextEncoder();
/** Room for the UTF-8 of the longest name. */
const scratch = new Uint8Array(256);

/** Hashes of names, for the same few come again and again. */
const hashes = new Map<string, UserHash>();
const mostHashes = 8192;

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);

/**
 * 64 bits that are the same for the same rows in whatever order they come: the sum of a hash of each row. To sort rows
 * and to spell them out for a cryptographic hash would take several times as long as to read them did, and the only
 * one whom two reports with the same sum could harm is their sender.
 */
export class RowSum {
  /** Rows so far. */
  count = 0;
  private sumA = 0;
  private sumB = 0;
  private a = 0;
  private b = 0;

  /** Ends the row that was begun by the first `name` or `number` since the last one. */
  endRow(): void {
    this.count += 1;
    this.sumA = (this.sumA + avalanche(this.a)) >>> 0;
    this.sumB = (this.sumB + avalanche(this.b ^ this.a)) >>> 0;
    this.a = 0;
    this.b = 0;
  }

  /** A name of the row; `undefined` where it could have one and has none. */
  name(name: string | undefined): void {
    this.word(name === undefined ? 0 : 1);
    if (name !== undefined) this.hash(hashOf(name));
  }

  /** A hash that stands for a text of the row. */
  hash({ high, low }: UserHash): void {
    this.word(high);
    this.word(low);
  }

  /** A number of the row, as the double that it is. */
  number(value: number): void {
    doubles[0] = value;
    this.word(words[0]!);
    this.word(words[1]!);
  }

  /** The sum of all rows. */
  get total(): readonly [number, number] {
    return [this.sumA, this.sumB];
  }

  /** Two of the lanes of MurmurHash3 (A. Appleby). */
  private word(word: number): void {
    this.a = (Math.imul(rotate(this.a ^ scatter(word, 0xcc9e2d51, 0x1b873593), 13), 5) + 0xe6546b64) | 0;
    this.b = (Math.imul(rotate(this.b ^ scatter(word, 0x239b961b, 0xab0e9789), 19), 5) + 0x561ccd1b) | 0;
  }
}

function hashOf(name: string): UserHash {
  const known = hashes.get(name);
  if (known !== undefined) return known;
  if (hashes.size >= mostHashes) hashes.clear();
  const hash = murmur3(scratch, encoder.encodeInto(name, scratch).written);
  hashes.set(name, hash);
  return hash;
}

function scatter(word: number, first: number, second: number): number {
  return Math.imul(rotate(Math.imul(word, first), 15), second);
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function avalanche(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
