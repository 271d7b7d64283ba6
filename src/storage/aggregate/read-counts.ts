import {
  type BucketWidth,
  blockKey,
  blocksPerEnvironment,
  bucketWidth,
  cellsPerBlock,
  computeBlock,
  computePlace,
  encodeBucket,
  floorTo,
  minutesPerDay,
  type Places,
  rawBlocks,
  seriesRef,
} from '../lmdb/blocks.ts';
import { type RollUpState, readRollUpState } from '../lmdb/roll-up-state.ts';
import { type Reading, readAt, type Snapshot } from '../lmdb/snapshot.ts';
import type { UsageTables } from '../lmdb/usage.ts';

interface CountsQuery {
  /** Minutes since the epoch, inclusive. */
  readonly from: number;
  /** End of the time range, exclusive. */
  readonly to: number;
  /** Maximum bucket width of the results. Older counts can be available only in wider buckets. */
  readonly grain: 'minute' | 'hour' | 'day';
  /** Ordinals of the series to read, if only a few are needed. Other series of the same blocks are also returned. */
  readonly only?: readonly number[];
}

/** Counts of neighbouring series in one bucket. The reader reuses this object: copy its data before the next read. */
export class CountsBlock {
  /** Start of the bucket. A bucket can be returned in several blocks. */
  minute = 0;
  size = 0;
  readonly ordinals = new Uint32Array(cellsPerBlock);
  readonly checks = new Float64Array(cellsPerBlock);
  readonly used = new Float64Array(cellsPerBlock);
  readonly viewed = new Float64Array(cellsPerBlock);
  readonly #cells = new Float64Array(3 * cellsPerBlock);
  readonly #bytes = new Uint8Array(this.#cells.buffer);

  read(value: Buffer, first: number, minute: number): this {
    const cells = this.#cells;
    const mask = value.readUInt32LE(0);
    // All supported platforms are little-endian. Reading each number from a `DataView` takes five times as long.
    value.copy(this.#bytes, 0, 4);
    let size = 0;
    for (let place = 0, at = 0; place < cellsPerBlock; place += 1) {
      if ((mask & (1 << place)) === 0) continue;
      this.ordinals[size] = first + place;
      this.checks[size] = cells[at]!;
      this.used[size] = cells[at + 1]!;
      this.viewed[size] = cells[at + 2]!;
      size += 1;
      at += 3;
    }
    if (value.length !== 4 + 24 * size) throw new RangeError('the value of a block has the wrong length');
    this.minute = minute;
    this.size = size;
    return this;
  }
}

type TakeCounts = (block: CountsBlock) => void;

interface Segment {
  readonly width: BucketWidth;
  readonly from: number;
  to: number;
}

const hour = 60;
const day = minutesPerDay;
const widthOfGrain = { minute: bucketWidth.minute, hour: bucketWidth.hour, day: bucketWidth.day } as const;

/** Number of blocks to read between two pauses. */
const stride = 64;

/**
 * Reads the counts of a time range. Whole days are read from day cells and whole hours from hour cells, so the cost
 * depends on the size of the result only.
 */
export function* readCounts(
  store: UsageTables,
  environment: number,
  wanted: CountsQuery,
  at: Snapshot,
  take: TakeCounts,
): Reading<void> {
  const carried = readRollUpState(store.carried, environment, at);
  yield* readCarriedCounts(store, environment, wanted, carried, at, take);
  yield* readNewCounts(store, environment, wanted, carried, at, take);
}

/** Reads rolled-up counts. The result changes only if the roll-up state `carried` changes. */
export function* readCarriedCounts(
  store: UsageTables,
  environment: number,
  wanted: CountsQuery,
  carried: RollUpState,
  at: Snapshot,
  take: TakeCounts,
): Reading<void> {
  const read = readerFor(wanted);
  for (const { width, from, to } of selectSegments(wanted, carried)) {
    const end = width === bucketWidth.minute ? Math.min(computePlace(to), carried.minutes) : computePlace(to);
    yield* read(store, environment, width, { from: computePlace(from), to: end }, at, take);
    if (width !== bucketWidth.day) continue;
    const hours = { from: Math.max(computePlace(from), carried.hours), to: computePlace(Math.min(to, wanted.to)) };
    yield* read(store, environment, bucketWidth.hour, hours, at, take);
  }
}

/** Reads counts that are not rolled up yet: the counts of the last minutes. */
export function readNewCounts(
  store: UsageTables,
  environment: number,
  wanted: CountsQuery,
  { minutes }: RollUpState,
  at: Snapshot,
  take: TakeCounts,
): Reading<void> {
  const places = { from: Math.max(computePlace(wanted.from), minutes), to: computePlace(wanted.to) };
  return readerFor(wanted)(store, environment, bucketWidth.minute, places, at, take);
}

const readerFor = ({ only }: CountsQuery) => (only === undefined ? scanSegment : seekSegment(only));

type SegmentReader = (
  store: UsageTables,
  environment: number,
  width: BucketWidth,
  places: Places,
  at: Snapshot,
  take: TakeCounts,
) => Reading<void>;

/**
 * Selects the cells to read, in order of time. A wide cell without narrower cells belongs to the range that contains
 * the start of the cell. The last hour and the last day are read as whole cells if these cells contain no counts after
 * the range, for example because the range ends now.
 */
export function selectSegments(
  { from, to, grain }: CountsQuery,
  { minutes, hours, minutesFrom, hoursFrom }: RollUpState,
): readonly Segment[] {
  const widest = widthOfGrain[grain];
  const isOpen = computePlace(to) >= Math.max(minutes, hours);
  const segments: Segment[] = [];
  const add = (width: BucketWidth, start: number, end: number) => {
    const last = segments.at(-1);
    if (last?.width === width && last.to === start) last.to = end;
    else segments.push({ width, from: start, to: end });
  };
  for (let minute = from; minute < to; ) {
    const nextHour = floorTo(minute, hour) + hour;
    const nextDay = floorTo(minute, day) + day;
    const noHours = nextDay <= hoursFrom;
    const noMinutes = noHours || nextHour <= minutesFrom;
    const isDay = minute % day === 0 && (noHours || (widest === bucketWidth.day && (isOpen || nextDay <= to)));
    const isHour = minute % hour === 0 && (noMinutes || (widest !== bucketWidth.minute && (isOpen || nextHour <= to)));
    const next = isDay || noHours ? nextDay : isHour || noMinutes ? nextHour : Math.min(nextHour, to);
    if (isDay) add(bucketWidth.day, minute, next);
    else if (isHour && !noHours) add(bucketWidth.hour, minute, next);
    else if (!noMinutes) add(bucketWidth.minute, minute, next);
    minute = next;
  }
  return segments;
}

function* scanSegment(...[store, environment, width, places, at, take]: Parameters<SegmentReader>): Reading<void> {
  if (places.from >= places.to) return;
  const block = new CountsBlock();
  let left = stride;
  for (const { minute, first, value } of rawBlocks(store.counts, environment, width, places, at)) {
    take(block.read(value, first, minute));
    left -= 1;
    if (left > 0) continue;
    left = stride;
    yield;
  }
}

const minutesByWidth = { [bucketWidth.minute]: 1, [bucketWidth.hour]: hour, [bucketWidth.day]: day } as const;

function seekSegment(only: readonly number[]): SegmentReader {
  const blocks = [...new Set(only.map((ordinal) => Math.floor(ordinal / cellsPerBlock)))];
  const found = new CountsBlock();
  return function* (store, environment, width, { from, to }, at, take) {
    const each = minutesByWidth[width];
    const first = floorTo(Math.floor(from / blocksPerEnvironment), each);
    for (let minute = first, left = stride; computePlace(minute) < to; minute += each) {
      for (const block of blocks) {
        if (computePlace(minute, block) < from || computePlace(minute, block) >= to) continue;
        const number = computeBlock(seriesRef(environment, block * cellsPerBlock));
        const value = store.counts.get(blockKey(number, encodeBucket(width, minute)), readAt(at));
        if (value !== undefined) take(found.read(value, block * cellsPerBlock, minute));
      }
      left -= 1;
      if (left > 0) continue;
      left = stride;
      yield;
    }
  };
}
