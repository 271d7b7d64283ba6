import {
  type BucketWidth,
  blockKey,
  blockOf,
  blocksPerEnvironment,
  bucketOf,
  bucketWidth,
  cellsPerBlock,
  minutesPerDay,
  type Places,
  placeOf,
  rawBlocks,
  seriesRef,
} from '../lmdb/blocks.ts';
import { type Carried, readCarried } from '../lmdb/carried.ts';
import { type Reading, readAt, type Snapshot } from '../lmdb/snapshot.ts';
import type { UsageStore } from '../lmdb/usage.ts';

/** What to read of an environment's counts. */
export interface CountsWanted {
  /** Minutes since the epoch, included. */
  readonly from: number;
  /** Not included. */
  readonly to: number;
  /** Counts are given for buckets of this width at most, where such are still kept. */
  readonly grain: 'minute' | 'hour' | 'day';
  /** Ordinals of the only series that matter, when these are few: then no other is read, but in blocks that they share. */
  readonly only?: readonly number[];
}

/** What some neighbouring series counted in one bucket. It is reused: what matters has to be taken out at once. */
export class CountsBlock {
  /** At which the bucket starts. A bucket may come in several parts. */
  minute = 0;
  /** How many series there are. */
  size = 0;
  readonly ordinals = new Uint32Array(cellsPerBlock);
  readonly checks = new Float64Array(cellsPerBlock);
  readonly used = new Float64Array(cellsPerBlock);
  readonly viewed = new Float64Array(cellsPerBlock);

  /** Reads a stored block (see `BlockEncoder`). */
  read(value: Buffer, first: number, minute: number): this {
    const view = new DataView(value.buffer, value.byteOffset, value.length);
    const mask = view.getUint32(0, true);
    let size = 0;
    for (let place = 0, at = 4; place < cellsPerBlock; place += 1) {
      if ((mask & (1 << place)) === 0) continue;
      this.ordinals[size] = first + place;
      this.checks[size] = view.getFloat64(at, true);
      this.used[size] = view.getFloat64(at + 8, true);
      this.viewed[size] = view.getFloat64(at + 16, true);
      size += 1;
      at += 24;
    }
    this.minute = minute;
    this.size = size;
    return this;
  }
}

export type TakeCounts = (block: CountsBlock) => void;

/** A part of the time, and the width of the cells that it is read from. */
interface Segment {
  readonly width: BucketWidth;
  readonly from: number;
  to: number;
}

const [hour, day] = [60, minutesPerDay];
const widthOfGrain = { minute: bucketWidth.minute, hour: bucketWidth.hour, day: bucketWidth.day } as const;

/** Blocks between two pauses. */
const stride = 64;

/**
 * Reads what an environment's series counted. Whole days are read from day cells and whole hours from hour cells, so it costs
 * as much as it gives, whatever the minutes hold; to these it adds what is not carried to them yet (see store/carried.ts).
 */
export function* readCounts(
  store: UsageStore,
  environment: number,
  wanted: CountsWanted,
  at: Snapshot,
  take: TakeCounts,
): Reading<void> {
  const carried = readCarried(store.carried, environment, at);
  yield* readCarriedCounts(store, environment, wanted, carried, at, take);
  yield* readNewCounts(store, environment, wanted, carried, at, take);
}

/** Reads what is carried: it stays the same as long as `carried` does. */
export function* readCarriedCounts(
  store: UsageStore,
  environment: number,
  wanted: CountsWanted,
  carried: Carried,
  at: Snapshot,
  take: TakeCounts,
): Reading<void> {
  const read = readerFor(wanted);
  for (const { width, from, to } of planSegments(wanted, carried)) {
    const end = width === bucketWidth.minute ? Math.min(placeOf(to), carried.minutes) : placeOf(to);
    yield* read(store, environment, width, { from: placeOf(from), to: end }, at, take);
    if (width !== bucketWidth.day) continue;
    const hours = { from: Math.max(placeOf(from), carried.hours), to: placeOf(Math.min(to, wanted.to)) };
    yield* read(store, environment, bucketWidth.hour, hours, at, take);
  }
}

/** Reads what is not carried: the last minutes. */
export function readNewCounts(
  store: UsageStore,
  environment: number,
  wanted: CountsWanted,
  { minutes }: Carried,
  at: Snapshot,
  take: TakeCounts,
): Reading<void> {
  const places = { from: Math.max(placeOf(wanted.from), minutes), to: placeOf(wanted.to) };
  return readerFor(wanted)(store, environment, bucketWidth.minute, places, at, take);
}

function readerFor({ only }: CountsWanted): ReadPart {
  return only === undefined ? scanPart : seekPart(only);
}

type ReadPart = (
  store: UsageStore,
  environment: number,
  width: BucketWidth,
  places: Places,
  at: Snapshot,
  take: TakeCounts,
) => Reading<void>;

/**
 * Which cells to read, in the order of time. A cell that is wider than the time it is read for counts where it starts. When
 * nothing from the end on is carried, as it is when the end is now, the last hour and the last day are read whole.
 */
export function planSegments(
  { from, to, grain }: CountsWanted,
  { minutes, hours, minutesFrom, hoursFrom }: Carried,
): readonly Segment[] {
  const widest = widthOfGrain[grain];
  const isOpen = placeOf(to) >= Math.max(minutes, hours);
  const segments: Segment[] = [];
  const add = (width: BucketWidth, start: number, end: number) => {
    const last = segments.at(-1);
    if (last?.width === width && last.to === start) last.to = end;
    else segments.push({ width, from: start, to: end });
  };
  for (let minute = from; minute < to; ) {
    const [nextHour, nextDay] = [after(minute, hour), after(minute, day)];
    const noHours = nextDay <= hoursFrom;
    const noMinutes = noHours || nextHour <= minutesFrom;
    const isDay =
      minute % day === 0 && (noHours || (widest === bucketWidth.day && (isOpen || nextDay <= to)));
    const isHour =
      minute % hour === 0 && (noMinutes || (widest !== bucketWidth.minute && (isOpen || nextHour <= to)));
    const next = isDay || noHours ? nextDay : isHour || noMinutes ? nextHour : Math.min(nextHour, to);
    if (isDay) add(bucketWidth.day, minute, next);
    else if (isHour && !noHours) add(bucketWidth.hour, minute, next);
    else if (!noMinutes) add(bucketWidth.minute, minute, next);
    minute = next;
  }
  return segments;
}

/** Reads all blocks of a part. */
function* scanPart(...[store, environment, width, places, at, take]: Parameters<ReadPart>): Reading<void> {
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

const minutesOf = { [bucketWidth.minute]: 1, [bucketWidth.hour]: hour, [bucketWidth.day]: day } as const;

/** Gets the blocks of some series, bucket by bucket. */
function seekPart(only: readonly number[]): ReadPart {
  const blocks = [...new Set(only.map((ordinal) => Math.floor(ordinal / cellsPerBlock)))];
  const found = new CountsBlock();
  return function* (store, environment, width, { from, to }, at, take) {
    const each = minutesOf[width];
    const first = Math.floor(Math.floor(from / blocksPerEnvironment) / each) * each;
    for (let minute = first, left = stride; placeOf(minute) < to; minute += each) {
      for (const block of blocks) {
        if (placeOf(minute, block) < from || placeOf(minute, block) >= to) continue;
        const number = blockOf(seriesRef(environment, block * cellsPerBlock));
        const value = store.counts.get(blockKey(number, bucketOf(width, minute)), readAt(at));
        if (value !== undefined) take(found.read(value, block * cellsPerBlock, minute));
      }
      left -= 1;
      if (left > 0) continue;
      left = stride;
      yield;
    }
  };
}

function after(minute: number, width: number): number {
  return (Math.floor(minute / width) + 1) * width;
}
