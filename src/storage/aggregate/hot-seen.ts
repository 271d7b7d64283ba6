import { assert } from '../../runtime/assert.ts';
import { blockOf, cellsPerBlock } from '../lmdb/blocks.ts';
import { putSeen, readSeen, type SeenBlock, seenWidth } from '../lmdb/seen.ts';
import { isNamed } from '../lmdb/series.ts';
import type { UsageTables } from '../lmdb/usage.ts';

/** Maximum number of blocks in memory between two commits: about 4 MB. */
const hotBlockLimit = 10_000;

interface HotBlock {
  readonly number: number;
  readonly minutes: SeenBlock;
  touched: boolean;
}

/** First-seen and last-seen times of the series in use. Only changes are written: a block per minute. */
export class HotSeen {
  readonly #store: UsageTables;
  readonly #blocks = new Map<number, HotBlock>();
  #touched: HotBlock[] = [];

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /** The first call sets when a series was first seen. Late reports and senders with wrong clocks do not move that time back. */
  mark(ref: number, minute: number): void {
    const block = this.#blockOf(ref);
    const at = (ref % cellsPerBlock) * seenWidth;
    const { minutes } = block;
    if (minute <= minutes[at + 1]!) return;
    if (minutes[at] === 0) {
      assert(isNamed(this.#store, ref), 'a new series comes with its name');
      minutes[at] = minute;
    }
    minutes[at + 1] = minute;
    this.#touch(block);
  }

  /** Moves the time when a seen series was first seen back to an earlier minute, which a history reports. */
  markEarlier(ref: number, minute: number): void {
    const block = this.#blockOf(ref);
    const at = (ref % cellsPerBlock) * seenWidth;
    if (block.minutes[at]! <= minute) return;
    block.minutes[at] = minute;
    this.#touch(block);
  }

  put(): void {
    for (const block of this.#touched) {
      putSeen(this.#store, block.number, block.minutes);
      block.touched = false;
    }
    this.#touched = [];
    if (this.#blocks.size > hotBlockLimit) this.forget();
  }

  forget(): void {
    this.#blocks.clear();
    this.#touched = [];
  }

  #blockOf(ref: number): HotBlock {
    const number = blockOf(ref);
    return this.#blocks.get(number) ?? this.#load(number);
  }

  #touch(block: HotBlock): void {
    if (block.touched) return;
    block.touched = true;
    this.#touched.push(block);
  }

  #load(number: number): HotBlock {
    const block = { number, minutes: readSeen(this.#store, number), touched: false };
    this.#blocks.set(number, block);
    return block;
  }
}
