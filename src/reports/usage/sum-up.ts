import { mergeMeasurement } from '../../storage/aggregate/merge.ts';
import {
  type BucketWidth,
  bucketWidth,
  type Cell,
  type Measurement,
  measurementCodec,
  minutesPerDay,
  scanCells,
} from '../../storage/lmdb/blocks.ts';
import { fromSnapshot, type Reading, readEach, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { bucketStart, type PointBudget, type ReportRange } from './report-range.ts';

/** The measurements to add up. */
interface CellSource {
  readonly store: UsageTables;
  /** The series to add up, by ordinal. */
  readonly series: Pick<ReadonlyMap<number, unknown>, 'has'>;
  readonly budget: PointBudget;
}

/** Receives one UTC day of a series: its total, and its points by step (`t` in Unix seconds, ascending). */
type TakeDay = (ordinal: number, total: Measurement, points: readonly Point[]) => void;

type Point = readonly [t: number, cell: Measurement];

/**
 * Adds up an environment's measurements over a range: minutes to hours, and hours to days. The caller adds up the days.
 * The roll-up adds in the same order, so a sum of doubles is the same before and after the roll-up. Each day is read
 * from one snapshot, so that a concurrent roll-up cannot change it. Counts need `readCounts` instead, because their
 * stored buckets overlap.
 * @throws {Refusal} `too_many_points`
 */
export function* sumUp(source: CellSource, environment: number, range: ReportRange, take: TakeDay): Reading<void> {
  for (let day = floorTo(range.from, minutesPerDay); day < range.to; day += minutesPerDay) {
    const part = { ...range, from: Math.max(day, range.from), to: Math.min(day + minutesPerDay, range.to) };
    const series = yield* fromSnapshot(source.store.lmdb, (at) => sumUpDay(source, environment, part, at));
    for (const [ordinal, one] of series) take(ordinal, one.end(), one.points);
  }
}

function* sumUpDay(
  source: CellSource,
  environment: number,
  { from, to, step }: ReportRange,
  at: Snapshot,
): Reading<ReadonlyMap<number, DayOfSeries>> {
  const days = new Map<number, DayOfSeries>();
  const cells = cellsInOrder(source, environment, from, to, at);
  yield* readEach(cells, ([width, { minute, ordinal, value }]) => {
    if (!source.series.has(ordinal)) return;
    const known = days.get(ordinal) ?? new DayOfSeries(source, step, floorTo(from, minutesPerDay));
    days.set(ordinal, known);
    known.add(width, minute, value);
  });
  return days;
}

/** Yields the stored buckets (cells) of a day: first the whole day, then each hour and its minutes. */
function* cellsInOrder(
  { store }: CellSource,
  environment: number,
  from: number,
  to: number,
  at: Snapshot,
): Generator<readonly [BucketWidth, Cell<Measurement>]> {
  const { day, hour, minute } = bucketWidth;
  const scan = (width: BucketWidth) =>
    scanCells(store.measurements, measurementCodec, environment, width, from, to, at);
  for (const cell of scan(day)) yield [day, cell];
  const hours = scan(hour);
  const minutes = scan(minute);
  try {
    let ofHour = hours.next();
    let ofMinute = minutes.next();
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
class DayOfSeries {
  readonly points: Point[] = [];
  readonly #source: CellSource;
  readonly #step: ReportRange['step'];
  readonly #start: number;
  readonly #total: Measurement;
  /** The current hour: its start in Unix seconds, and its sum so far. */
  #hour: Point | undefined;

  /** @param start start of the day, minutes since the epoch */
  constructor(source: CellSource, step: ReportRange['step'], start: number) {
    this.#source = source;
    this.#step = step;
    this.#start = start;
    this.#total = measurementCodec.empty();
  }

  add(width: BucketWidth, minute: number, cell: Measurement): void {
    if (width === bucketWidth.day) mergeMeasurement(this.#total, cell);
    else this.#addToHour(bucketStart(minute, 'hour'), cell);
    // A bucket wider than the step is reported at its start.
    if (this.#step === 'minute' || (this.#step === 'hour' && width === bucketWidth.day)) this.#show(minute * 60, cell);
  }

  /** Ends the day. @returns its total */
  end(): Measurement {
    this.#endHour();
    if (this.#step === 'day') this.#show(this.#start * 60, this.#total);
    return this.#total;
  }

  #addToHour(t: number, cell: Measurement): void {
    if (this.#hour?.[0] !== t) {
      this.#endHour();
      this.#hour = [t, measurementCodec.empty()];
    }
    mergeMeasurement(this.#hour![1], cell);
  }

  #endHour(): void {
    if (this.#hour === undefined) return;
    const [t, hour] = this.#hour;
    mergeMeasurement(this.#total, hour);
    if (this.#step === 'hour') this.#show(t, hour);
    this.#hour = undefined;
  }

  #show(t: number, cell: Measurement): void {
    let last = this.points.at(-1);
    if (last?.[0] !== t) {
      this.#source.budget.take();
      last = [t, measurementCodec.empty()];
      this.points.push(last);
    }
    mergeMeasurement(last[1], cell);
  }
}
