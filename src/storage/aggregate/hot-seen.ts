import { assert } from '../../runtime/assert.ts';
import { blockOf, cellsPerBlock } from '../lmdb/blocks.ts';
import { putSeen, readSeen, type SeenBlock, seenWidth } from '../lmdb/seen.ts';
import { isNamed } from '../lmdb/series.ts';
import type { UsageStore } from '../lmdb/usage.ts';

/** Blocks kept in memory between two commits: about 4 MB. */
const hotBlockLimit = 10_000;

interface HotBlock {
  readonly number: number;
  readonly minutes: SeenBlock;
  touched: boolean;
}

/**
 * When the series that are being written to were seen. `mark` is called once for each series and bucket, and for each user;
 * only what has changed is put, which is a block a minute.
 */
export class HotSeen {
  readonly #store: UsageStore;
  readonly #blocks = new Map<number, HotBlock>();
  #touched: HotBlock[] = [];

  constructor(store: UsageStore) {
    this.#store = store;
  }

  /**
   * A series was seen in a minute since the epoch. The first call decides when it was seen first: a late report, or a
   * sender whose clock is wrong, does not move that back.
   */
  mark(ref: number, minute: number): void {
    const number = blockOf(ref);
    const block = this.#blocks.get(number) ?? this.#load(number);
    const at = (ref % cellsPerBlock) * seenWidth;
    const { minutes } = block;
    if (minute <= minutes[at + 1]!) return;
    if (minutes[at] === 0) {
      assert(isNamed(this.#store, ref), 'a new series comes with its name');
      minutes[at] = minute;
    }
    minutes[at + 1] = minute;
    if (block.touched) return;
    block.touched = true;
    this.#touched.push(block);
  }

  /** Puts every block that has changed; call it inside the transaction. */
  put(): void {
    for (const block of this.#touched) {
      putSeen(this.#store, block.number, block.minutes);
      block.touched = false;
    }
    this.#touched = [];
    if (this.#blocks.size > hotBlockLimit) this.forget();
  }

  /** Drops everything, also what was not put: after a commit that failed, the store is the truth. */
  forget(): void {
    this.#blocks.clear();
    this.#touched = [];
  }

  #load(number: number): HotBlock {
    const block = { number, minutes: readSeen(this.#store, number), touched: false };
    this.#blocks.set(number, block);
    return block;
  }
}
