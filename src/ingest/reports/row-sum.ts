import { avalanche, type Hash64, murmur3, rotate } from '../../storage/aggregate/murmur3.ts';

const encoder = new TextEncoder();
/** Room for the UTF-8 of the longest name; of what is longer, and so none, the beginning counts. */
const longest = 256;
const scratch = new Uint8Array(longest);

/** Hashes of names, for the same few come again and again. */
const hashes = new Map<string, Hash64>();
const maxHashes = 8192;

/** Stands for a name that is missing. */
const noName: Hash64 = { high: 0, low: 1 };

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);

/**
 * 64 bits that are the same for the same rows in whatever order they come: the sum of a hash of each row. Sorting the rows
 * and hashing them cryptographically would take several times as long as reading them did. Two messages with the same sum
 * would harm only their own sender.
 */
export class RowSum {
  #sumA = 0;
  #sumB = 0;
  #a = 0;
  #b = 0;

  /** Begins a row. Rows of different kinds never stand for each other. */
  begin(kind: number): void {
    this.#a = kind;
    this.#b = kind;
  }

  /** A name of the row; `undefined` where it could have one and has none. */
  name(name: string | undefined): void {
    this.hash(name === undefined ? noName : hashOf(name));
  }

  /** A hash that stands for a text of the row. */
  hash({ high, low }: Hash64): void {
    this.word(high);
    this.word(low);
  }

  /** A number of the row, as the double that it is. */
  number(value: number): void {
    doubles[0] = value;
    this.word(words[0]!);
    this.word(words[1]!);
  }

  /** A number of the row that is an integer of 32 bits. It goes into two lanes, each turned by its own angle. */
  word(word: number): void {
    this.#a = Math.imul(rotate(this.#a, 5) ^ word, 0x9e3779b1);
    this.#b = Math.imul(rotate(this.#b, 11) ^ word, 0x85ebca6b);
  }

  /** Ends the row. */
  end(): void {
    this.#sumA = (this.#sumA + avalanche(this.#a)) | 0;
    this.#sumB = (this.#sumB + avalanche(this.#b ^ this.#a)) | 0;
  }

  /** Adds the total of other rows. */
  add([a, b]: readonly [number, number]): void {
    this.#sumA = (this.#sumA + a) | 0;
    this.#sumB = (this.#sumB + b) | 0;
  }

  /** The sum of all rows that have ended, as unsigned words. */
  get total(): readonly [number, number] {
    return [this.#sumA >>> 0, this.#sumB >>> 0];
  }
}

function hashOf(name: string): Hash64 {
  const known = hashes.get(name);
  if (known !== undefined) return known;
  const hash = murmur3(scratch, encoder.encodeInto(name, scratch).written);
  if (name.length > longest) return hash;
  if (hashes.size >= maxHashes) hashes.clear();
  hashes.set(name, hash);
  return hash;
}
