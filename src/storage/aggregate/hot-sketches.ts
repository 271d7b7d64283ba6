import type { Table } from '../lmdb/lmdb.ts';
import {
  type ChunkContent,
  chunkKeyBytes,
  chunksPerSketch,
  chunkValueBytes,
  readChunk,
  writeChunk,
  writeChunkKey,
} from '../lmdb/sketches.ts';
import { Chunk, createCoupon, getChunkNumber } from './hyperloglog.ts';

interface HotSketch {
  readonly ref: number;
  readonly day: number;
  readonly chunks: (HotChunk | undefined)[];
  bytes: number;
}

interface HotChunk {
  readonly sketch: HotSketch;
  readonly index: number;
  readonly chunk: Chunk;
  /** The users in `chunk` that are already stored; `undefined` if all of them are stored. */
  stored: Chunk | undefined;
  touched: boolean;
}

type Generation = Map<number, Map<number, HotSketch>>;

/** Approximate bytes of a sketch and of a chunk, in addition to the bytes of their arrays. */
const sketchBytes = 600;
const chunkBytes = 300;

/**
 * A cache of the sketches in use, so that adding a known user does not access the store. Two generations bound the
 * memory: a touched sketch moves to the recent generation. At half of the limit, the recent generation becomes old, and
 * the previous old generation is dropped.
 */
export class HotSketches {
  readonly #table: Table;
  readonly #limit: number;
  #recent: Generation = new Map();
  #old: Generation = new Map();
  #recentBytes = 0;
  #oldBytes = 0;
  #touched: HotChunk[] = [];
  readonly #key = Buffer.alloc(chunkKeyBytes);
  readonly #value = Buffer.alloc(chunkValueBytes);
  readonly #taken: boolean;

  /** @param limit approximate maximum bytes in memory @param taken true if `take` removes chunks from the table */
  constructor(table: Table, limit: number, taken = false) {
    this.#table = table;
    this.#limit = limit;
    this.#taken = taken;
  }

  get bytes(): number {
    return this.#recentBytes + this.#oldBytes;
  }

  /**
   * Adds a user, inside a transaction. If the memory is full, the call writes the pending changes. @param day since the
   * epoch, UTC
   */
  add(ref: number, day: number, high: number, low: number): void {
    const coupon = createCoupon(high, low);
    const hot = this.#chunkAt(ref, day, getChunkNumber(coupon));
    const before = hot.chunk.bytes;
    if (!hot.chunk.add(coupon)) return;
    hot.stored?.add(coupon);
    this.#changed(hot, before);
  }

  merge(ref: number, day: number, index: number, content: ChunkContent): void {
    const hot = this.#chunkAt(ref, day, index);
    const before = hot.chunk.bytes;
    if (!hot.chunk.merge(content)) return;
    hot.stored?.merge(content);
    this.#changed(hot, before);
  }

  #changed(hot: HotChunk, before: number): void {
    this.#charge(hot.sketch, hot.chunk.bytes - before);
    if (hot.touched) return;
    hot.touched = true;
    this.#touched.push(hot);
  }

  put(): number {
    const puts = this.#touched.length;
    for (const hot of this.#touched) {
      writeChunkKey(this.#key, hot.sketch.ref, hot.sketch.day, hot.index);
      const length = writeChunk(this.#value, (hot.stored ?? hot.chunk).content);
      this.#table.putSync(this.#key, this.#value.subarray(0, length));
      hot.touched = false;
    }
    this.#touched = [];
    return puts;
  }

  /** Records that a chunk was moved from the table to a delta, so that its users in memory are not written again. */
  take(ref: number, day: number, index: number): void {
    const sketch = this.#recent.get(day)?.get(ref) ?? this.#old.get(day)?.get(ref);
    const hot = sketch?.chunks[index];
    if (hot !== undefined) hot.stored = new Chunk();
  }

  forget(): void {
    this.#recent = new Map();
    this.#old = new Map();
    this.#recentBytes = 0;
    this.#oldBytes = 0;
    this.#touched = [];
  }

  #chunkAt(ref: number, day: number, index: number): HotChunk {
    if (this.#recentBytes > this.#limit / 2) this.#startGeneration();
    const sketch = this.#recent.get(day)?.get(ref) ?? this.#open(ref, day);
    return sketch.chunks[index] ?? this.#load(sketch, index);
  }

  /** Starts a new generation. Writes all changes first: the old generation must not contain unwritten changes. */
  #startGeneration(): void {
    this.put();
    this.#old = this.#recent;
    this.#oldBytes = this.#recentBytes;
    this.#recent = new Map();
    this.#recentBytes = 0;
  }

  /** Returns a sketch in the recent generation. The sketch is moved from the old generation, or is new and empty. */
  #open(ref: number, day: number): HotSketch {
    const known = this.#old.get(day)?.get(ref);
    const sketch = known ?? { ref, day, chunks: new Array(chunksPerSketch), bytes: sketchBytes };
    if (known !== undefined) {
      this.#old.get(day)!.delete(ref);
      this.#oldBytes -= known.bytes;
    }
    const sketches = this.#recent.get(day) ?? new Map<number, HotSketch>();
    this.#recent.set(day, sketches.set(ref, sketch));
    this.#recentBytes += sketch.bytes;
    return sketch;
  }

  #load(sketch: HotSketch, index: number): HotChunk {
    writeChunkKey(this.#key, sketch.ref, sketch.day, index);
    const stored = this.#table.get(this.#key);
    const chunk = new Chunk(stored === undefined ? undefined : readChunk(stored));
    const own = this.#taken ? new Chunk(stored === undefined ? undefined : readChunk(stored)) : undefined;
    const hot = { sketch, index, chunk, stored: own, touched: false };
    sketch.chunks[index] = hot;
    this.#charge(sketch, chunkBytes + chunk.bytes);
    return hot;
  }

  #charge(sketch: HotSketch, bytes: number): void {
    sketch.bytes += bytes;
    this.#recentBytes += bytes;
  }
}
