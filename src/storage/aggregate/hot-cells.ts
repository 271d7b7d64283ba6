import {
  type Block,
  BlockEncoder,
  type BucketWidth,
  blockKey,
  bucketWidth,
  type CellCodec,
  type Counts,
  cellsPerBlock,
  computeBlock,
  computePlace,
  decodeBlock,
  decodeMinute,
  decodeWidth,
  encodeBucket,
  floorTo,
  minutesPerDay,
  seriesPerEnvironment,
} from '../lmdb/blocks.ts';
import type { Table } from '../lmdb/lmdb.ts';
import { daysOver, noRollUp, putRollUpState, type RollUpState, readRollUpState } from '../lmdb/roll-up-state.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import { addCounts, mergeCounts } from './merge.ts';

/**
 * Maximum number of time buckets in memory between two commits. Few buckets are enough, because old buckets are rarely
 * written to.
 */
const maxBuckets = 8;

interface HotBlock<T> {
  readonly key: Buffer;
  readonly number: number;
  readonly bucket: number;
  readonly cells: Block<T>;
  touched: boolean;
}

/** Called once for each series and bucket, when the cell is created. */
type OnFirst = (ref: number, bucket: number) => void;

/**
 * A write-back cache of the cells in use. A commit writes the changed cells, and reads none of them. A cached cell
 * equals the stored cell plus the changes since the last `put`.
 */
export class HotCells<T> {
  readonly #table: Table;
  readonly #codec: CellCodec<T>;
  readonly #encoder: BlockEncoder<T>;
  readonly #limit: number;
  readonly #onFirst: OnFirst;
  /** Blocks by time bucket, the newest bucket last. */
  readonly #buckets = new Map<number, Map<number, HotBlock<T>>>();
  #touched: HotBlock<T>[] = [];
  /** The block that was touched last. It often stays the same, because most records of a packet are in one block. */
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

  /** The cell of a series in a bucket (see `encodeBucket`). The caller changes it in place. */
  touch(ref: number, bucket: number): T {
    const block = this.#blockAt(computeBlock(ref), bucket);
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

  /** Drops all cells and their unwritten changes. Call this after a failed transaction, when cells can be wrong. */
  forget(): void {
    this.#buckets.clear();
    this.#touched = [];
    this.#last = undefined;
    this.#size = 0;
  }

  /** Forgets a block that was deleted from the store and must not be written again. */
  dropBlock(number: number, bucket: number): void {
    this.#last = undefined;
    if (this.#buckets.get(bucket)?.delete(number)) this.#size -= 1;
  }

  /** Forgets a bucket that was deleted from the store and must not be written again. */
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
    const cells = stored === undefined ? new Array(cellsPerBlock).fill(undefined) : decodeBlock(stored, this.#codec);
    const block = { key, number, bucket, cells, touched: false };
    blocks.set(number, block);
    this.#size += 1;
    return block;
  }
}

const hour = 60;
const day = minutesPerDay;

/**
 * A cache of the counts in use, and of the roll-up state (see lmdb/roll-up-state.ts). Counts for a cell that is already
 * rolled up are also added to the cells of the hour and the day, in the same transaction.
 */
export class HotCounts {
  readonly #store: Pick<UsageTables, 'carried'>;
  readonly #cells: HotCells<Counts>;
  readonly #carried = new Map<number, RollUpState>();
  readonly #changed = new Set<number>();
  /** Environments in which rolled-up cells got additions since the last `put`. */
  readonly #late = new Set<number>();
  /** Environments in which a past day got a user since the last `put`. */
  readonly #lateUsers = new Set<number>();
  /** The environment of the last addition. It rarely changes, because the records of a packet have one environment. */
  #environment = -1;
  #ofEnvironment = noRollUp;

  constructor(store: Pick<UsageTables, 'carried'>, cells: HotCells<Counts>) {
    this.#store = store;
    this.#cells = cells;
  }

  add(ref: number, bucket: number, checks: number, used: number, viewed: number): void {
    addCounts(this.#cells.touch(ref, bucket), checks, used, viewed);
    const environment = Math.floor(ref / seriesPerEnvironment);
    if (environment !== this.#environment) this.#selectEnvironment(environment);
    // Most minutes are not rolled up yet. The wider cells do not include such minutes, so no wider cell needs a change.
    const isMinute = decodeWidth(bucket) === bucketWidth.minute;
    if (isMinute && computePlace(decodeMinute(bucket), computeBlock(ref)) >= this.#ofEnvironment.minutes) return;
    this.#addLate(ref, decodeWidth(bucket), decodeMinute(bucket), { checks, used, viewed });
  }

  /** Updates the roll-up state if a user is added to a day that is over. @param minute since the epoch */
  noteUser(ref: number, minute: number): void {
    const environment = Math.floor(ref / seriesPerEnvironment);
    if (environment !== this.#environment) this.#selectEnvironment(environment);
    if (minute >= daysOver(this.#ofEnvironment) * day || this.#lateUsers.has(environment)) return;
    this.#lateUsers.add(environment);
    this.updateRollUpState(environment, { lateUsers: this.#ofEnvironment.lateUsers + 1 });
  }

  /** Adds rolled-up counts to an hour, and to its day if the hour is rolled up. @param minute start of the hour */
  addToHour(ref: number, minute: number, counts: Counts): void {
    mergeCounts(this.#cells.touch(ref, encodeBucket(bucketWidth.hour, minute)), counts);
    const { hours } = this.getRollUpState(Math.floor(ref / seriesPerEnvironment));
    if (computePlace(minute, computeBlock(ref)) < hours) this.addToDay(ref, floorTo(minute, day), counts);
  }

  addToDay(ref: number, minute: number, counts: Counts): void {
    mergeCounts(this.#cells.touch(ref, encodeBucket(bucketWidth.day, minute)), counts);
  }

  getRollUpState(environment: number): RollUpState {
    if (environment !== this.#environment) this.#selectEnvironment(environment);
    return this.#ofEnvironment;
  }

  /** Changes the roll-up state of an environment. The state is written with the next `put`. */
  updateRollUpState(environment: number, moved: Partial<RollUpState>): void {
    this.#ofEnvironment = { ...this.getRollUpState(environment), ...moved };
    this.#carried.set(environment, this.#ofEnvironment);
    this.#changed.add(environment);
  }

  put(): void {
    this.#cells.put();
    for (const environment of this.#changed) {
      putRollUpState(this.#store.carried, environment, this.#carried.get(environment)!);
    }
    this.#changed.clear();
    this.#late.clear();
    this.#lateUsers.clear();
  }

  forget(): void {
    this.#cells.forget();
    this.#carried.clear();
    this.#changed.clear();
    this.#late.clear();
    this.#lateUsers.clear();
    this.#environment = -1;
  }

  drop(bucket: number): void {
    this.#cells.drop(bucket);
  }

  dropBlock(number: number, bucket: number): void {
    this.#cells.dropBlock(number, bucket);
  }

  #selectEnvironment(environment: number): void {
    const carried = this.#carried.get(environment) ?? readRollUpState(this.#store.carried, environment);
    this.#carried.set(environment, carried);
    this.#environment = environment;
    this.#ofEnvironment = carried;
  }

  /**
   * Adds late counts to the wider cells if the cell of the counts is already rolled up. If counts arrive for a whole
   * hour or day, records in the roll-up state that narrower cells are missing.
   */
  #addLate(ref: number, width: BucketWidth, minute: number, counts: Counts): void {
    const { hours, minutesFrom, hoursFrom, late } = this.#ofEnvironment;
    if (!this.#late.has(this.#environment)) {
      this.#late.add(this.#environment);
      this.updateRollUpState(this.#environment, { late: late + 1 });
    }
    if (width === bucketWidth.minute) this.addToHour(ref, floorTo(minute, hour), counts);
    else if (width === bucketWidth.hour) {
      if (minutesFrom < minute + hour) this.updateRollUpState(this.#environment, { minutesFrom: minute + hour });
      if (computePlace(minute, computeBlock(ref)) < hours) this.addToDay(ref, floorTo(minute, day), counts);
    } else if (hoursFrom < minute + day) this.updateRollUpState(this.#environment, { hoursFrom: minute + day });
  }
}
