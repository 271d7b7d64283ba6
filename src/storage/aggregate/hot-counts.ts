import {
  type BucketWidth,
  blockOf,
  bucketOf,
  bucketWidth,
  minuteOf,
  minutesPerDay,
  placeOf,
  seriesPerEnvironment,
  widthOf,
} from '../lmdb/blocks.ts';
import { type Carried, daysOver, notCarried, putCarried, readCarried } from '../lmdb/carried.ts';
import type { Counts } from '../lmdb/cells.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import type { HotCells } from './hot-cells.ts';
import { addCounts, mergeCounts } from './merge.ts';

const [hour, day] = [60, minutesPerDay];

/**
 * The counts that are being written to, with how far they are carried (see store/carried.ts). What is added to a cell that was
 * carried is added to the wider cells too, in the same transaction.
 */
export class HotCounts {
  readonly #store: Pick<UsageStore, 'carried'>;
  readonly #cells: HotCells<Counts>;
  readonly #carried = new Map<number, Carried>();
  readonly #marked = new Set<number>();
  /** Environments that something late was added to since the last `put`. */
  readonly #late = new Set<number>();
  /** Environments of which a day that is over got a user since the last `put`. */
  readonly #lateUsers = new Set<number>();
  /** The environment that was added to last: records of one packet are of one environment. */
  #environment = -1;
  #ofEnvironment = notCarried;

  constructor(store: Pick<UsageStore, 'carried'>, cells: HotCells<Counts>) {
    this.#store = store;
    this.#cells = cells;
  }

  /** Adds what a series (see `seriesRef`) counted in a bucket (see `bucketOf`). */
  add(ref: number, bucket: number, checks: number, used: number, viewed: number): void {
    addCounts(this.#cells.touch(ref, bucket), checks, used, viewed);
    const environment = Math.floor(ref / seriesPerEnvironment);
    if (environment !== this.#environment) this.#turnTo(environment);
    // Nearly always the minute is not over, so this is all.
    const isMinute = widthOf(bucket) === bucketWidth.minute;
    if (isMinute && placeOf(minuteOf(bucket), blockOf(ref)) >= this.#ofEnvironment.minutes) return;
    this.#addLate(ref, widthOf(bucket), minuteOf(bucket), { checks, used, viewed });
  }

  /** Notes that a series got a user in a minute (since the epoch). */
  noteUser(ref: number, minute: number): void {
    const environment = Math.floor(ref / seriesPerEnvironment);
    if (environment !== this.#environment) this.#turnTo(environment);
    if (minute >= daysOver(this.#ofEnvironment) * day || this.#lateUsers.has(environment)) return;
    this.#lateUsers.add(environment);
    this.mark(environment, { lateUsers: this.#ofEnvironment.lateUsers + 1 });
  }

  /** Adds what is carried to an hour, and to its day when that has the hour already. @param minute at which the hour starts */
  addToHour(ref: number, minute: number, counts: Counts): void {
    mergeCounts(this.#cells.touch(ref, bucketOf(bucketWidth.hour, minute)), counts);
    const { hours } = this.carriedOf(Math.floor(ref / seriesPerEnvironment));
    if (placeOf(minute, blockOf(ref)) < hours) this.addToDay(ref, floorTo(minute, day), counts);
  }

  /** Adds what is carried to a day. @param minute at which the day starts */
  addToDay(ref: number, minute: number, counts: Counts): void {
    mergeCounts(this.#cells.touch(ref, bucketOf(bucketWidth.day, minute)), counts);
  }

  /** How far an environment is carried. */
  carriedOf(environment: number): Carried {
    if (environment !== this.#environment) this.#turnTo(environment);
    return this.#ofEnvironment;
  }

  /** Moves the marks of an environment. They are put with the next `put`. */
  mark(environment: number, moved: Partial<Carried>): void {
    this.#ofEnvironment = { ...this.carriedOf(environment), ...moved };
    this.#carried.set(environment, this.#ofEnvironment);
    this.#marked.add(environment);
  }

  /** Puts everything that has changed; call it inside the transaction. */
  put(): void {
    this.#cells.put();
    for (const environment of this.#marked) {
      putCarried(this.#store.carried, environment, this.#carried.get(environment)!);
    }
    this.#marked.clear();
    this.#late.clear();
    this.#lateUsers.clear();
  }

  /** Drops everything, also what was not put: after a commit that failed, the store is the truth. */
  forget(): void {
    this.#cells.forget();
    this.#carried.clear();
    this.#marked.clear();
    this.#late.clear();
    this.#lateUsers.clear();
    this.#environment = -1;
  }

  /** Forgets a bucket of which cells were deleted from the store. */
  drop(bucket: number): void {
    this.#cells.drop(bucket);
  }

  /** Forgets a block that was deleted from the store. */
  dropBlock(number: number, bucket: number): void {
    this.#cells.dropBlock(number, bucket);
  }

  #turnTo(environment: number): void {
    const carried = this.#carried.get(environment) ?? readCarried(this.#store.carried, environment);
    this.#carried.set(environment, carried);
    this.#environment = environment;
    this.#ofEnvironment = carried;
  }

  /** Adds to the wider cells what came when its cell was carried. What comes for an hour or a day is in no narrower cell. */
  #addLate(ref: number, width: BucketWidth, minute: number, counts: Counts): void {
    const { hours, minutesFrom, hoursFrom, late } = this.#ofEnvironment;
    if (!this.#late.has(this.#environment)) {
      this.#late.add(this.#environment);
      this.mark(this.#environment, { late: late + 1 });
    }
    if (width === bucketWidth.minute) this.addToHour(ref, floorTo(minute, hour), counts);
    else if (width === bucketWidth.hour) {
      if (minutesFrom < minute + hour) this.mark(this.#environment, { minutesFrom: minute + hour });
      if (placeOf(minute, blockOf(ref)) < hours) this.addToDay(ref, floorTo(minute, day), counts);
    } else if (hoursFrom < minute + day) this.mark(this.#environment, { hoursFrom: minute + day });
  }
}

function floorTo(minute: number, width: number): number {
  return Math.floor(minute / width) * width;
}
