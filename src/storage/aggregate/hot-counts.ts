import {
  type BucketWidth,
  blockOf,
  bucketOf,
  bucketWidth,
  floorTo,
  minuteOf,
  minutesPerDay,
  placeOf,
  seriesPerEnvironment,
  widthOf,
} from '../lmdb/blocks.ts';
import { type Carried, daysOver, notCarried, putCarried, readCarried } from '../lmdb/carried.ts';
import type { Counts } from '../lmdb/cells.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { HotCells } from './hot-cells.ts';
import { addCounts, mergeCounts } from './merge.ts';

const hour = 60;
const day = minutesPerDay;

/**
 * A cache of the counts in use, and how far they are rolled up (see lmdb/carried.ts). An addition to a cell that is already
 * rolled up also goes to the wider cells, in the same transaction.
 */
export class HotCounts {
  readonly #store: Pick<UsageTables, 'carried'>;
  readonly #cells: HotCells<Counts>;
  readonly #carried = new Map<number, Carried>();
  readonly #marked = new Set<number>();
  /** Environments with late additions since the last `put`. */
  readonly #late = new Set<number>();
  /** Environments in which a past day got a user since the last `put`. */
  readonly #lateUsers = new Set<number>();
  /** The environment of the last addition. All records of a packet belong to one environment. */
  #environment = -1;
  #ofEnvironment = notCarried;

  constructor(store: Pick<UsageTables, 'carried'>, cells: HotCells<Counts>) {
    this.#store = store;
    this.#cells = cells;
  }

  add(ref: number, bucket: number, checks: number, used: number, viewed: number): void {
    addCounts(this.#cells.touch(ref, bucket), checks, used, viewed);
    const environment = Math.floor(ref / seriesPerEnvironment);
    if (environment !== this.#environment) this.#turnTo(environment);
    // Nearly always the minute is not rolled up, so this is all.
    const isMinute = widthOf(bucket) === bucketWidth.minute;
    if (isMinute && placeOf(minuteOf(bucket), blockOf(ref)) >= this.#ofEnvironment.minutes) return;
    this.#addLate(ref, widthOf(bucket), minuteOf(bucket), { checks, used, viewed });
  }

  /** Records that a series got a user in a minute (since the epoch). */
  noteUser(ref: number, minute: number): void {
    const environment = Math.floor(ref / seriesPerEnvironment);
    if (environment !== this.#environment) this.#turnTo(environment);
    if (minute >= daysOver(this.#ofEnvironment) * day || this.#lateUsers.has(environment)) return;
    this.#lateUsers.add(environment);
    this.mark(environment, { lateUsers: this.#ofEnvironment.lateUsers + 1 });
  }

  /** Adds rolled-up counts to an hour, and to its day if the hour is rolled up. @param minute start of the hour */
  addToHour(ref: number, minute: number, counts: Counts): void {
    mergeCounts(this.#cells.touch(ref, bucketOf(bucketWidth.hour, minute)), counts);
    const { hours } = this.carriedOf(Math.floor(ref / seriesPerEnvironment));
    if (placeOf(minute, blockOf(ref)) < hours) this.addToDay(ref, floorTo(minute, day), counts);
  }

  addToDay(ref: number, minute: number, counts: Counts): void {
    mergeCounts(this.#cells.touch(ref, bucketOf(bucketWidth.day, minute)), counts);
  }

  carriedOf(environment: number): Carried {
    if (environment !== this.#environment) this.#turnTo(environment);
    return this.#ofEnvironment;
  }

  /** Moves the marks of an environment. They are written with the next `put`. */
  mark(environment: number, moved: Partial<Carried>): void {
    this.#ofEnvironment = { ...this.carriedOf(environment), ...moved };
    this.#carried.set(environment, this.#ofEnvironment);
    this.#marked.add(environment);
  }

  put(): void {
    this.#cells.put();
    for (const environment of this.#marked) {
      putCarried(this.#store.carried, environment, this.#carried.get(environment)!);
    }
    this.#marked.clear();
    this.#late.clear();
    this.#lateUsers.clear();
  }

  forget(): void {
    this.#cells.forget();
    this.#carried.clear();
    this.#marked.clear();
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

  #turnTo(environment: number): void {
    const carried = this.#carried.get(environment) ?? readCarried(this.#store.carried, environment);
    this.#carried.set(environment, carried);
    this.#environment = environment;
    this.#ofEnvironment = carried;
  }

  /** Adds late counts to the wider cells if their cell is rolled up. Counts for an hour or a day are in no narrower cell. */
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
