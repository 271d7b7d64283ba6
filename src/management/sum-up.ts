import {
  type BucketWidth,
  bucketWidth,
  type Cell,
  minutesPerDay,
  scanCells,
} from '../storage/lmdb/blocks.ts';
import type { CellCodec } from '../storage/lmdb/cells.ts';
import type { Table } from '../storage/lmdb/lmdb.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { bucketStart, type PointBudget, type ReportRange } from './report-range.ts';

/** The cells to add up. */
export interface CellSource<T> {
  readonly store: UsageTables;
  readonly table: Table;
  readonly codec: CellCodec<T>;
  merge(into: T, from: T): void;
  /** The series to add up, by ordinal. */
  readonly series: Pick<ReadonlyMap<number, unknown>, 'has'>;
  readonly budget: PointBudget;
}

/** Receives one UTC day of a series: its total, and its points by step (`t` in Unix seconds, ascending). */
export type TakeDay<T> = (ordinal: number, total: T, points: readonly Point<T>[]) => void;

type Point<T> = readonly [t: number, cell: T];

/**
 * Adds up an environment's cells over a range. Minutes are added up to hours, hours to days, and days by the caller. This is
 * the order of the roll-up, which therefore does not change a sum of doubles by a single bit. Each day is read from one
 * snapshot, so that a concurrent roll-up cannot change it.
 * @throws {ApiError} `too_many_points`
 */
export function* sumUp<T>(
  source: CellSource<T>,
  environment: number,
  range: ReportRange,
  take: TakeDay<T>,
): Reading<void> {
  for (let day = floorTo(range.from, minutesPerDay); day < range.to; day += minutesPerDay) {
    const part = {
      ...range,
      from: Math.max(day, range.from),
      to: Math.min(day + minutesPerDay, range.to),
    };
    const series = yield* fromSnapshot(source.store.lmdb, (at) => sumUpDay(source, environment, part, at));
    for (const [ordinal, one] of series) take(ordinal, one.end(), one.points);
  }
}

function* sumUpDay<T>(
  source: CellSource<T>,
  environment: number,
  { from, to, step }: ReportRange,
  at: Snapshot,
): Reading<ReadonlyMap<number, DayOfSeries<T>>> {
  const days = new Map<number, DayOfSeries<T>>();
  const cells = cellsInOrder(source, environment, from, to, at);
  yield* readEach(cells, ([width, { minute, ordinal, value }]) => {
    if (!source.series.has(ordinal)) return;
    const known = days.get(ordinal) ?? new DayOfSeries(source, step, floorTo(from, minutesPerDay));
    days.set(ordinal, known);
    known.add(width, minute, value);
  });
  return days;
}

/** The cells of a day: of the day itself, then of each hour and its minutes. */
function* cellsInOrder<T>(
  { table, codec }: CellSource<T>,
  environment: number,
  from: number,
  to: number,
  at: Snapshot,
): Generator<readonly [BucketWidth, Cell<T>]> {
  const { day, hour, minute } = bucketWidth;
  const scan = (width: BucketWidth) => scanCells(table, codec, environment, width, from, to, at);
  for (const cell of scan(day)) yield [day, cell];
  const [hours, minutes] = [scan(hour), scan(minute)];
  try {
    let [ofHour, ofMinute] = [hours.next(), minutes.next()];
    while (!ofHour.done || !ofMinute.done) {
      if (!ofHour.done && (ofMinute.done || ofHour.value.minute <= floorTo(ofMinute.value.minute, 60))) {
        yield [hour, ofHour.value];
        ofHour = hours.next();
      } else if (!ofMinute.done) {
        yield [minute, ofMinute.value];
        ofMinute = minutes.next();
      }
    }
  } finally {
    hours.return(undefined);
    minutes.return(undefined);
  }
}

function floorTo(minute: number, width: number): number {
  return Math.floor(minute / width) * width;
}

/** Adds up one day of one series, from the cells in the order of `cellsInOrder`. */
class DayOfSeries<T> {
  readonly points: Point<T>[] = [];
  readonly #source: CellSource<T>;
  readonly #step: ReportRange['step'];
  readonly #start: number;
  readonly #total: T;
  /** The current hour: its start in Unix seconds, and its sum so far. */
  #hour: Point<T> | undefined;

  /** @param start of the day, minutes since the epoch */
  constructor(source: CellSource<T>, step: ReportRange['step'], start: number) {
    this.#source = source;
    this.#step = step;
    this.#start = start;
    this.#total = source.codec.empty();
  }

  add(width: BucketWidth, minute: number, cell: T): void {
    if (width === bucketWidth.day) this.#source.merge(this.#total, cell);
    else this.#addToHour(bucketStart(minute, 'hour'), cell);
    // A bucket wider than the step is reported at its start.
    if (this.#step === 'minute' || (this.#step === 'hour' && width === bucketWidth.day))
      this.#show(minute * 60, cell);
  }

  /** Ends the day. @returns its total */
  end(): T {
    this.#endHour();
    if (this.#step === 'day') this.#show(this.#start * 60, this.#total);
    return this.#total;
  }

  #addToHour(t: number, cell: T): void {
    if (this.#hour?.[0] !== t) {
      this.#endHour();
      this.#hour = [t, this.#source.codec.empty()];
    }
    this.#source.merge(this.#hour![1], cell);
  }

  #endHour(): void {
    if (this.#hour === undefined) return;
    const [t, hour] = this.#hour;
    this.#source.merge(this.#total, hour);
    if (this.#step === 'hour') this.#show(t, hour);
    this.#hour = undefined;
  }

  #show(t: number, cell: T): void {
    let last = this.points.at(-1);
    if (last?.[0] !== t) {
      this.#source.budget.take();
      last = [t, this.#source.codec.empty()];
      this.points.push(last);
    }
    this.#source.merge(last[1], cell);
  }
}
