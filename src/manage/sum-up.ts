import { type BucketWidth, bucketWidth, scanCells } from '../store/blocks.ts';
import type { CellCodec } from '../store/cells.ts';
import type { Table } from '../store/environment.ts';
import { bucketStart, type ReportRange } from './report-range.ts';

/** A table of cells, and how two of its cells become one. */
export interface CellSource<T> {
  readonly table: Table;
  readonly codec: CellCodec<T>;
  merge(into: T, from: T): void;
}

/** Takes what a series did in one UTC day: in all, and by the report's step (`t` in Unix seconds, ascending). */
export type TakeDay<T> = (
  ordinal: number,
  total: T,
  points: readonly (readonly [t: number, cell: T])[],
) => void;

const minutesPerDay = 1440;

/**
 * Adds up an environment's cells over a range, whatever the widths of the buckets they are in. Minutes are added up to
 * hours, hours to days, and days by the caller: just as the roll-up does it, so that a sum of doubles comes out the same
 * to the last bit whether or not it was rolled up. Goes day by day, so that only one day is in memory.
 */
export function sumUp<T>(
  source: CellSource<T>,
  environment: number,
  range: ReportRange,
  take: TakeDay<T>,
): void {
  for (let day = floorToDay(range.from); day < range.to; day += minutesPerDay) {
    const from = Math.max(day, range.from);
    const to = Math.min(day + minutesPerDay, range.to);
    const series = new Map<number, DayOfSeries<T>>();
    for (const width of [bucketWidth.day, bucketWidth.hour, bucketWidth.minute]) {
      const cells = scanCells(source.table, source.codec, environment, width, from, to);
      for (const { minute, ordinal, value } of cells) {
        const known = series.get(ordinal) ?? new DayOfSeries(source, range.step, day);
        series.set(ordinal, known);
        known.add(width, minute, value);
      }
    }
    for (const [ordinal, { total, points }] of series) take(ordinal, total, points);
  }
}

function floorToDay(minute: number): number {
  return Math.floor(minute / minutesPerDay) * minutesPerDay;
}

/** What one series did in one day, while it is added up. Wider buckets must be added before narrower ones. */
class DayOfSeries<T> {
  private readonly source: CellSource<T>;
  private readonly step: ReportRange['step'];
  private readonly start: number;
  private readonly day: T;
  private readonly hours = new Map<number, T>();
  private readonly shown = new Map<number, T>();

  /** @param start of the day, minutes since the epoch */
  constructor(source: CellSource<T>, step: ReportRange['step'], start: number) {
    this.source = source;
    this.step = step;
    this.start = start;
    this.day = source.codec.empty();
  }

  add(width: BucketWidth, minute: number, cell: T): void {
    const { day } = bucketWidth;
    if (width === day) this.source.merge(this.day, cell);
    else this.mergeInto(this.hours, bucketStart(minute, 'hour'), cell);
    // What is in a wider bucket than was asked for is shown at that bucket's start.
    if (this.step === 'minute' || width === day) this.mergeInto(this.shown, minute * 60, cell);
  }

  get total(): T {
    const total = this.source.codec.empty();
    this.source.merge(total, this.day);
    for (const [, hour] of ascending(this.hours)) this.source.merge(total, hour);
    return total;
  }

  get points(): [t: number, cell: T][] {
    if (this.step === 'day') return [[this.start * 60, this.total]];
    if (this.step === 'hour') for (const [t, hour] of this.hours) this.mergeInto(this.shown, t, hour);
    return ascending(this.shown);
  }

  private mergeInto(cells: Map<number, T>, t: number, cell: T): void {
    const known = cells.get(t) ?? this.source.codec.empty();
    cells.set(t, known);
    this.source.merge(known, cell);
  }
}

function ascending<T>(cells: ReadonlyMap<number, T>): [number, T][] {
  return [...cells].sort(([a], [b]) => a - b);
}
