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

/** A table of cells, how to merge two of them, and which ones to read. */
export interface CellSource<T> {
  readonly store: UsageTables;
  readonly table: Table;
  readonly codec: CellCodec<T>;
  merge(into: T, from: T): void;
  /** The series to add up, by ordinal. The cells of other series are skipped. */
  readonly series: Pick<ReadonlyMap<number, unknown>, 'has'>;
  readonly budget: PointBudget;
}

/** Receives one UTC day of a series: its total, and its points by the report's step (`t` in Unix seconds, ascending). */
export type TakeDay<T> = (ordinal: number, total: T, points: readonly Point<T>[]) => void;

type Point<T> = readonly [t: number, cell: T];

/**
 * Adds up an environment's cells over a range. Cells have buckets of different widths. Minutes are added up to hours, hours to
 * days, and days by the caller, in the same order as in the roll-up, so that a sum of doubles is the same to the last bit before and
 * after it. Each day is read from one snapshot, so that the roll-up cannot change it meanwhile.
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

/** The cells of a day: the day's own, then hour by hour the hour's own and those of its minutes. */
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

/** One day of one series while it is added up, from the cells in the order of `cellsInOrder`. */
class DayOfSeries<T> {
  readonly points: Point<T>[] = [];
  readonly #source: CellSource<T>;
  readonly #step: ReportRange['step'];
  readonly #start: number;
  readonly #total: T;
  /** The hour that is being added up: its start in Unix seconds, and its sum so far. */
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
    // A bucket that is wider than the step is shown at its start.
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
