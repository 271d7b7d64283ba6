import {
  type Block,
  blockKey,
  blockOf,
  bucketWidth,
  cellsPerBlock,
  decodeBlock,
  encodeBlock,
} from '../store/blocks.ts';
import type { CellCodec } from '../store/cells.ts';
import type { Table } from '../store/environment.ts';

interface HotBlock<T> {
  readonly number: number;
  readonly minute: number;
  readonly cells: Block<T>;
  touched: boolean;
}

/**
 * The minute cells that are being written to, kept in memory so that a commit is puts only and no gets. What is in
 * here was read from the store or committed to it, except for what was touched since the last `put`.
 */
export class HotCells<T> {
  private readonly table: Table;
  private readonly codec: CellCodec<T>;
  private readonly limit: number;
  private readonly minutes = new Map<number, Map<number, HotBlock<T>>>();
  private touched: HotBlock<T>[] = [];
  private size = 0;

  /** @param limit most blocks kept in memory between two commits */
  constructor(table: Table, codec: CellCodec<T>, limit: number) {
    this.table = table;
    this.codec = codec;
    this.limit = limit;
  }

  /** The cell of a series in a minute, to be changed in place by the caller. */
  touch(ref: number, minute: number): T {
    const number = blockOf(ref);
    const blocks = this.minutes.get(minute) ?? this.openMinute(minute);
    const block = blocks.get(number) ?? this.load(blocks, number, minute);
    if (!block.touched) {
      block.touched = true;
      this.touched.push(block);
    }
    const place = ref % cellsPerBlock;
    const cell = block.cells[place];
    if (cell !== undefined) return cell;
    const empty = this.codec.empty();
    block.cells[place] = empty;
    return empty;
  }

  /** Puts every touched block; call it inside the transaction. */
  put(): void {
    for (const block of this.touched) {
      this.table.putSync(
        blockKey(block.number, bucketWidth.minute, block.minute),
        encodeBlock(block.cells, this.codec),
      );
      block.touched = false;
    }
    this.touched = [];
    if (this.size > this.limit) this.forget();
  }

  /** Drops everything, also what was not put: after a commit that failed, the store is the truth. */
  forget(): void {
    this.minutes.clear();
    this.touched = [];
    this.size = 0;
  }

  /** Time moves on, so the minutes before the last one are hardly written to any more. */
  private openMinute(minute: number): Map<number, HotBlock<T>> {
    for (const [old, blocks] of this.minutes) {
      if (old >= minute - 1 || [...blocks.values()].some((block) => block.touched)) continue;
      this.minutes.delete(old);
      this.size -= blocks.size;
    }
    const blocks = new Map<number, HotBlock<T>>();
    this.minutes.set(minute, blocks);
    return blocks;
  }

  private load(blocks: Map<number, HotBlock<T>>, number: number, minute: number): HotBlock<T> {
    const stored = this.table.get(blockKey(number, bucketWidth.minute, minute));
    const cells =
      stored === undefined ? new Array(cellsPerBlock).fill(undefined) : decodeBlock(stored, this.codec);
    const block = { number, minute, cells, touched: false };
    blocks.set(number, block);
    this.size += 1;
    return block;
  }
}
