import { assert } from '../../runtime/assert.ts';
import {
  cellsPerBlock,
  computeBlock,
  countsCodec,
  decodeMinute,
  type Measurement,
  measurementCodec,
  minutesPerDay,
} from '../lmdb/blocks.ts';
import { slotMs, sweepSenders } from '../lmdb/senders.ts';
import { isNamed, putSeen, readSeen, type SeenBlock, seenWidth } from '../lmdb/series.ts';
import { sweepTotals } from '../lmdb/totals.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import { HotCells, HotCounts } from './hot-cells.ts';
import { HotSketches } from './hot-sketches.ts';

/** Maximum number of a table's blocks in a worker's memory: about 40 MB if all their cells are in use. */
const hotBlockLimit = 10_000;
/** Maximum bytes of sketches in a worker's memory. */
const hotSketchBytes = 64 * 1024 * 1024;

export interface HotTables {
  readonly counts: HotCounts;
  readonly measurements: HotCells<Measurement>;
  readonly sketches: HotSketches;
  readonly seen: HotSeenTimes;
  readonly senders: SenderSweep;
  readonly totals: TotalSweep;
}

/** Creates empty caches. @param taken true if the store is emptied repeatedly: see `HotSketches` */
export function createHotTables(store: UsageTables, taken = false): HotTables {
  const seen = new HotSeenTimes(store);
  const inBucket = (ref: number, bucket: number) => seen.record(ref, decodeMinute(bucket));
  return {
    counts: new HotCounts(store, new HotCells(store.counts, countsCodec, hotBlockLimit, inBucket)),
    measurements: new HotCells(store.measurements, measurementCodec, hotBlockLimit, inBucket),
    sketches: new HotSketches(store.sketches, hotSketchBytes, taken),
    seen,
    senders: new SenderSweep(store),
    totals: new TotalSweep(store),
  };
}

/** Adds a user of a series in a minute (since the epoch). Call this in a transaction. */
export function addUser(
  hot: Pick<HotTables, 'seen' | 'sketches' | 'counts'>,
  ref: number,
  minute: number,
  high: number,
  low: number,
): void {
  hot.seen.record(ref, minute);
  countUser(hot, ref, minute, high, low);
}

/** Adds a user as `addUser` does, but does not record when the series was seen. */
export function countUser(
  { sketches, counts }: Pick<HotTables, 'sketches' | 'counts'>,
  ref: number,
  minute: number,
  high: number,
  low: number,
): void {
  sketches.add(ref, Math.floor(minute / minutesPerDay), high, low);
  counts.noteUser(ref, minute);
}

/**
 * Progress of the sweep in an environment. `from` is the next ordinal to visit, `undefined` once the day's sweep is
 * complete.
 */
interface Visit {
  readonly day: number;
  readonly from: number | undefined;
}

const dayMs = 86_400_000;

/** Forgets senders that were not seen for a long time. Sweeps all senders of an environment once a day. */
class SenderSweep {
  readonly #store: UsageTables;
  readonly #visits = new Map<number, Visit>();

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /**
   * Continues the sweep of an environment, in a transaction. @param now Unix ms @returns the number of visited records;
   * 0 at the end
   */
  step(environment: number, now: number, limit: number): number {
    const day = Math.floor(now / dayMs);
    const visit = this.#visits.get(environment);
    const from = visit?.day === day ? visit.from : 0;
    if (from === undefined) return 0;
    const next = sweepSenders(this.#store, environment, from, Math.floor(now / slotMs), limit);
    this.#visits.set(environment, { day, from: next });
    return next === undefined ? 0 : limit;
  }
}

/** Forgets running totals that were not received for a long time. Sweeps all totals once a day. */
class TotalSweep {
  readonly #store: UsageTables;
  #day = -1;
  #from: Buffer | undefined;

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /**
   * Continues the sweep. Call this in a transaction. @param now Unix ms @returns the number of visited records; 0 at
   * the end
   */
  step(now: number, limit: number): number {
    const day = Math.floor(now / dayMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#from = Buffer.alloc(0);
    }
    if (this.#from === undefined) return 0;
    this.#from = sweepTotals(this.#store, now, this.#from, limit);
    return this.#from === undefined ? 0 : limit;
  }
}

/** Maximum number of blocks in memory between two commits: about 4 MB. */
const seenBlockLimit = 10_000;

interface HotBlock {
  readonly number: number;
  readonly minutes: SeenBlock;
  touched: boolean;
}

/** First-seen and last-seen times of the series in use. Each block is written at most once per minute. */
class HotSeenTimes {
  readonly #store: UsageTables;
  readonly #blocks = new Map<number, HotBlock>();
  #touched: HotBlock[] = [];

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /**
   * Records that a series was seen. The first call sets the first-seen time. Late reports and wrong clocks do not move
   * this time back.
   */
  record(ref: number, minute: number): void {
    const block = this.#getBlock(ref);
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

  /** Moves the first-seen time of a known series back to an earlier minute from an imported history. */
  recordEarlier(ref: number, minute: number): void {
    const block = this.#getBlock(ref);
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
    if (this.#blocks.size > seenBlockLimit) this.forget();
  }

  forget(): void {
    this.#blocks.clear();
    this.#touched = [];
  }

  #getBlock(ref: number): HotBlock {
    const number = computeBlock(ref);
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
