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
import { Chunk, chunkOf, couponOf } from './hyperloglog.ts';

interface HotSketch {
  readonly ref: number;
  readonly day: number;
  readonly chunks: (HotChunk | undefined)[];
  /** Its share of the bytes held. */
  bytes: number;
}

interface HotChunk {
  readonly sketch: HotSketch;
  readonly index: number;
  readonly chunk: Chunk;
  /** The users that are in the store, where that is not all who are known: see `HotSketches`. */
  stored: Chunk | undefined;
  touched: boolean;
}

/** Sketches by day and series ref. */
type Generation = Map<number, Map<number, HotSketch>>;

/** What a sketch and a chunk take beside their arrays, about. */
const sketchBytes = 600;
const chunkBytes = 300;

/**
 * The sketches that are being added to, kept in memory so that a user who was seen before costs the store nothing. Each
 * chunk is read from the store when it is first touched. What is in here was read from the store or committed to it,
 * except for what was touched since the last `put`.
 *
 * Memory is bounded by two generations: a sketch that is touched is in the recent one, and when that has grown to half of
 * the limit it becomes the old one and the old one is dropped. So what goes is what was not touched for longest.
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

  /**
   * @param limit most bytes kept in memory, about
   * @param taken whether chunks are taken out of the table (see `take`)
   */
  constructor(table: Table, limit: number, taken = false) {
    this.#table = table;
    this.#limit = limit;
    this.#taken = taken;
  }

  /** Bytes held in memory, about. */
  get bytes(): number {
    return this.#recentBytes + this.#oldBytes;
  }

  /**
   * Adds a user, by the two halves of the hash, to a series (see `seriesRef`) on a day (since the epoch, UTC). Call it
   * inside the transaction: when there is no room, it puts what was touched so far.
   */
  add(ref: number, day: number, high: number, low: number): void {
    const coupon = couponOf(high, low);
    const hot = this.#chunkAt(ref, day, chunkOf(coupon));
    const before = hot.chunk.bytes;
    if (!hot.chunk.add(coupon)) return;
    hot.stored?.add(coupon);
    this.#charge(hot.sketch, hot.chunk.bytes - before);
    if (hot.touched) return;
    hot.touched = true;
    this.#touched.push(hot);
  }

  /** Adds the users of a chunk of another sketch of the same series and day, in the same way. */
  merge(ref: number, day: number, index: number, content: ChunkContent): void {
    const hot = this.#chunkAt(ref, day, index);
    const before = hot.chunk.bytes;
    if (!hot.chunk.merge(content)) return;
    hot.stored?.merge(content);
    this.#charge(hot.sketch, hot.chunk.bytes - before);
    if (hot.touched) return;
    hot.touched = true;
    this.#touched.push(hot);
  }

  /** Puts every chunk that has changed, and gives their number; call it inside the transaction. */
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

  /**
   * A chunk was deleted from the table, because its users were handed on. Who of them is still in memory need not be put again.
   */
  take(ref: number, day: number, index: number): void {
    const sketch = this.#recent.get(day)?.get(ref) ?? this.#old.get(day)?.get(ref);
    const hot = sketch?.chunks[index];
    if (hot !== undefined) hot.stored = new Chunk();
  }

  /** Drops everything, also what was not put: after a commit that failed, the store is the truth. */
  forget(): void {
    this.#recent = new Map();
    this.#old = new Map();
    this.#recentBytes = 0;
    this.#oldBytes = 0;
    this.#touched = [];
  }

  #chunkAt(ref: number, day: number, index: number): HotChunk {
    if (this.#recentBytes > this.#limit / 2) this.#turn();
    const sketch = this.#recent.get(day)?.get(ref) ?? this.#open(ref, day);
    return sketch.chunks[index] ?? this.#load(sketch, index);
  }

  /** Starts a new generation; nothing that was not put may be dropped with the old one. */
  #turn(): void {
    this.put();
    this.#old = this.#recent;
    this.#oldBytes = this.#recentBytes;
    this.#recent = new Map();
    this.#recentBytes = 0;
  }

  /** Brings a sketch into the recent generation, from the old one or with none of its chunks loaded. */
  #open(ref: number, day: number): HotSketch {
    const known = this.#takeOld(ref, day);
    const sketch = known ?? { ref, day, chunks: new Array(chunksPerSketch), bytes: sketchBytes };
    const sketches = this.#recent.get(day) ?? new Map<number, HotSketch>();
    this.#recent.set(day, sketches.set(ref, sketch));
    this.#recentBytes += sketch.bytes;
    return sketch;
  }

  #takeOld(ref: number, day: number): HotSketch | undefined {
    const sketches = this.#old.get(day);
    const sketch = sketches?.get(ref);
    if (sketch === undefined) return undefined;
    sketches!.delete(ref);
    this.#oldBytes -= sketch.bytes;
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
