import { type Block, BlockEncoder, blockKey, blockOf, cellsPerBlock, decodeBlock } from '../lmdb/blocks.ts';
import type { CellCodec } from '../lmdb/cells.ts';
import type { Table } from '../lmdb/lmdb.ts';

/** Maximum number of time buckets in memory between two commits. Old buckets are rarely written to. */
const maxBuckets = 8;

interface HotBlock<T> {
  readonly key: Buffer;
  readonly number: number;
  readonly bucket: number;
  readonly cells: Block<T>;
  touched: boolean;
}

/** Called once for each series and bucket, when its cell is created. */
type OnFirst = (ref: number, bucket: number) => void;

/**
 * A write-back cache of the cells in use, so that a commit needs only puts. Its content was read from the store or committed to
 * it, except for changes since the last `put`.
 */
export class HotCells<T> {
  readonly #table: Table;
  readonly #codec: CellCodec<T>;
  readonly #encoder: BlockEncoder<T>;
  readonly #limit: number;
  readonly #onFirst: OnFirst;
  /** By time bucket, the newest one last. */
  readonly #buckets = new Map<number, Map<number, HotBlock<T>>>();
  #touched: HotBlock<T>[] = [];
  /** The block that was touched last. Most records of a packet are in one block. */
  #last: HotBlock<T> | undefined;
  #size = 0;

  /** @param limit maximum number of blocks in memory between two commits */
  constructor(table: Table, codec: CellCodec<T>, limit: number, onFirst: OnFirst) {
    this.#table = table;
    this.#codec = codec;
    this.#encoder = new BlockEncoder(codec);
    this.#limit = limit;
    this.#onFirst = onFirst;
  }

  /** The cell of a series in a bucket (see `bucketOf`), to be changed in place by the caller. */
  touch(ref: number, bucket: number): T {
    const block = this.#blockAt(blockOf(ref), bucket);
    if (!block.touched) {
      block.touched = true;
      this.#touched.push(block);
    }
    const place = ref % cellsPerBlock;
    const cell = block.cells[place];
    if (cell !== undefined) return cell;
    const empty = this.#codec.empty();
    block.cells[place] = empty;
    this.#onFirst(ref, bucket);
    return empty;
  }

  put(): void {
    for (const block of this.#touched) {
      this.#table.putSync(block.key, this.#encoder.encode(block.cells));
      block.touched = false;
    }
    this.#touched = [];
    if (this.#size > this.#limit) this.forget();
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= maxBuckets) break;
      this.drop(oldest);
    }
  }

  /** Drops everything, including unwritten changes. After a failed commit, the store is the truth. */
  forget(): void {
    this.#buckets.clear();
    this.#touched = [];
    this.#last = undefined;
    this.#size = 0;
  }

  /** Forgets a block that was deleted from the store and must not be put again. */
  dropBlock(number: number, bucket: number): void {
    this.#last = undefined;
    if (this.#buckets.get(bucket)?.delete(number)) this.#size -= 1;
  }

  /** Forgets a bucket that was deleted from the store and must not be put again. */
  drop(bucket: number): void {
    this.#last = undefined;
    this.#size -= this.#buckets.get(bucket)?.size ?? 0;
    this.#buckets.delete(bucket);
  }

  #blockAt(number: number, bucket: number): HotBlock<T> {
    const last = this.#last;
    if (last !== undefined && last.number === number && last.bucket === bucket) return last;
    const blocks = this.#buckets.get(bucket) ?? this.#open(bucket);
    const block = blocks.get(number) ?? this.#load(blocks, number, bucket);
    this.#last = block;
    return block;
  }

  #open(bucket: number): Map<number, HotBlock<T>> {
    const blocks = new Map<number, HotBlock<T>>();
    this.#buckets.set(bucket, blocks);
    return blocks;
  }

  #load(blocks: Map<number, HotBlock<T>>, number: number, bucket: number): HotBlock<T> {
    const key = blockKey(number, bucket);
    const stored = this.#table.get(key);
    const cells =
      stored === undefined ? new Array(cellsPerBlock).fill(undefined) : decodeBlock(stored, this.#codec);
    const block = { key, number, bucket, cells, touched: false };
    blocks.set(number, block);
    this.#size += 1;
    return block;
  }
}
