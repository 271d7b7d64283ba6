import {
  type BucketWidth,
  blockKey,
  blockOf,
  blocksPerEnvironment,
  bucketOf,
  bucketWidth,
  cellsPerBlock,
  type Places,
  placeOf,
  rawBlocks,
  seriesRef,
} from '../store/blocks.ts';
import { type Carried, readCarried } from '../store/carried.ts';
import { type Reading, readAt, type Snapshot } from '../store/snapshot.ts';
import type { UsageStore } from '../store/usage.ts';

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

/** Receives what a series counted in the bucket that starts at a minute. A bucket may come in several parts. */
export type TakeCounts = (
  ordinal: number,
  minute: number,
  checks: number,
  used: number,
  viewed: number,
) => void;

/** A part of the time, and the width of the cells that it is read from. */
interface Segment {
  readonly width: BucketWidth;
  readonly from: number;
  to: number;
}

const [hour, day] = [60, 1440];
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
  const read = wanted.only === undefined ? scanPart : seekPart(wanted.only);
  for (const segment of planSegments(wanted, carried)) {
    for (const [width, places] of partsOf(segment, carried)) {
      yield* read(store, environment, width, places, at, take);
    }
  }
}

type ReadPart = (
  store: UsageStore,
  environment: number,
  width: BucketWidth,
  places: Places,
  at: Snapshot,
  take: TakeCounts,
) => Reading<void>;

/** Which cells to read, in the order of time. A cell that is wider than the time it is read for counts where it starts. */
export function planSegments(
  { from, to, grain }: CountsWanted,
  { minutesFrom, hoursFrom }: Carried,
): readonly Segment[] {
  const widest = widthOfGrain[grain];
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
    const isDay = minute % day === 0 && (noHours || (widest === bucketWidth.day && nextDay <= to));
    const isHour = minute % hour === 0 && (noMinutes || (widest !== bucketWidth.minute && nextHour <= to));
    const next = isDay || noHours ? nextDay : isHour || noMinutes ? nextHour : Math.min(nextHour, to);
    if (isDay) add(bucketWidth.day, minute, next);
    else if (isHour && !noHours) add(bucketWidth.hour, minute, next);
    else if (!noMinutes) add(bucketWidth.minute, minute, next);
    minute = next;
  }
  return segments;
}

/** The cells of a segment, and the narrower ones that these do not have yet. */
function* partsOf({ width, from, to }: Segment, carried: Carried): Generator<readonly [BucketWidth, Places]> {
  const places = { from: placeOf(from), to: placeOf(to) };
  yield [width, places];
  const since = (mark: number) => ({ from: Math.max(places.from, mark), to: places.to });
  if (width === bucketWidth.day) yield [bucketWidth.hour, since(carried.hours)];
  if (width !== bucketWidth.minute) yield [bucketWidth.minute, since(carried.minutes)];
}

/** Reads all blocks of a part. */
function* scanPart(...[store, environment, width, places, at, take]: Parameters<ReadPart>): Reading<void> {
  if (places.from >= places.to) return;
  let left = stride;
  for (const { minute, first, value } of rawBlocks(store.counts, environment, width, places, at)) {
    takeBlock(value, first, minute, take);
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
  return function* (store, environment, width, { from, to }, at, take) {
    const each = minutesOf[width];
    const first = Math.floor(Math.floor(from / blocksPerEnvironment) / each) * each;
    for (let minute = first, left = stride; placeOf(minute) < to; minute += each) {
      for (const block of blocks) {
        if (placeOf(minute, block) < from || placeOf(minute, block) >= to) continue;
        const number = blockOf(seriesRef(environment, block * cellsPerBlock));
        const value = store.counts.get(blockKey(number, bucketOf(width, minute)), readAt(at));
        if (value !== undefined) takeBlock(value, block * cellsPerBlock, minute, take);
      }
      left -= 1;
      if (left > 0) continue;
      left = stride;
      yield;
    }
  };
}

/** Gives the cells of a stored block (see `BlockEncoder`), as fast as can be. */
function takeBlock(value: Buffer, first: number, minute: number, take: TakeCounts): void {
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  const mask = view.getUint32(0, true);
  for (let place = 0, at = 4; place < cellsPerBlock; place += 1) {
    if ((mask & (1 << place)) === 0) continue;
    take(
      first + place,
      minute,
      view.getFloat64(at, true),
      view.getFloat64(at + 8, true),
      view.getFloat64(at + 16, true),
    );
    at += 24;
  }
}

function after(minute: number, width: number): number {
  return (Math.floor(minute / width) + 1) * width;
}
