import {
  type BucketWidth,
  blockOf,
  blocksAt,
  bucketOf,
  bucketWidth,
  minutesPerDay,
  type Places,
  placeOf,
  type StoredBlock,
} from '../lmdb/blocks.ts';
import { type Counts, countsCodec, measurementCodec } from '../lmdb/cells.ts';
import type { Horizons } from '../lmdb/retention.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { HotCounts } from './hot-counts.ts';
import type { HotTables } from './hot-tables.ts';
import { mergeMeasurement } from './merge.ts';

/**
 * Moves the oldest measurements of an environment that are past a horizon into buckets of the next width, and deletes those past
 * the last horizon. Sums over a range of whole buckets stay the same, to the last bit. Call it in a transaction.
 * @param limit maximum number of blocks to move; bounds how long a batch waits
 * @returns blocks moved: fewer than `limit` if none are left
 */
export function rollUp(
  store: UsageTables,
  hot: HotTables,
  environment: number,
  horizons: Horizons,
  limit: number,
): number {
  const { minute, hour, day } = bucketWidth;
  const mover = { store, hot, environment };
  let moved = move(mover, minute, horizons.minutes, { width: hour, minutes: 60 }, limit);
  moved += move(mover, hour, horizons.hours, { width: day, minutes: minutesPerDay }, limit - moved);
  return moved + move(mover, day, horizons.days, undefined, limit - moved);
}

interface Mover {
  readonly store: UsageTables;
  readonly hot: HotTables;
  readonly environment: number;
}

function move(
  { store: { measurements: table }, hot: { measurements: cells }, environment }: Mover,
  width: BucketWidth,
  before: number,
  to: { readonly width: BucketWidth; readonly minutes: number } | undefined,
  limit: number,
): number {
  if (limit === 0) return 0;
  const places = { from: 0, to: placeOf(before) };
  const blocks = blocksAt(table, measurementCodec, environment, width, places, limit);
  for (const block of blocks) {
    table.removeSync(block.key);
    cells.drop(bucketOf(width, block.minute));
    if (to === undefined) continue;
    const bucket = bucketOf(to.width, Math.floor(block.minute / to.minutes) * to.minutes);
    for (const [place, cell] of block.cells.entries()) {
      if (cell !== undefined) mergeMeasurement(cells.touch(block.firstRef + place, bucket), cell);
    }
  }
  cells.put();
  return blocks.length;
}

const [hour, day] = [60, minutesPerDay];

/** Blocks that can be rolled up in the time it takes to delete one. Their sums are in memory. */
const perRecord = 8;

/**
 * Rolls up counts of an environment to the next width: completed minutes to their hours, completed hours to their days. A report
 * over months then reads days only. Call it in a transaction.
 * @param before the minute (since the epoch) up to which buckets are complete
 * @param limit bounds how long a batch waits
 * @returns the used part of the limit: less than the limit if nothing is left
 */
export function carry(
  store: UsageTables,
  counts: HotCounts,
  environment: number,
  before: number,
  limit: number,
): number {
  const room = limit * perRecord;
  const carriedMinutes = carryWidth(store, counts, environment, minutesToHours, before, room);
  counts.put(); // Hours are read from the table.
  const carriedHours = carryWidth(store, counts, environment, hoursToDays, before, room - carriedMinutes);
  counts.put();
  return Math.ceil((carriedMinutes + carriedHours) / perRecord);
}

/** The widths of the source and target cells. */
interface Widths {
  readonly narrow: {
    readonly width: BucketWidth;
    readonly minutes: number;
    readonly mark: 'minutes' | 'hours';
  };
  readonly wide: {
    readonly minutes: number;
    add(counts: HotCounts, ref: number, start: number, cell: Counts): void;
  };
}

const minutesToHours: Widths = {
  narrow: { width: bucketWidth.minute, minutes: 1, mark: 'minutes' },
  wide: { minutes: hour, add: (counts, ref, start, cell) => counts.addToHour(ref, start, cell) },
};

const hoursToDays: Widths = {
  narrow: { width: bucketWidth.hour, minutes: hour, mark: 'hours' },
  wide: { minutes: day, add: (counts, ref, start, cell) => counts.addToDay(ref, start, cell) },
};

/** @returns blocks rolled up */
function carryWidth(
  store: UsageTables,
  counts: HotCounts,
  environment: number,
  { narrow, wide }: Widths,
  before: number,
  limit: number,
): number {
  const from = counts.carriedOf(environment)[narrow.mark];
  const places = { from, to: placeOf(floorTo(before, narrow.minutes)) };
  const blocks = blocksIn(store, environment, narrow.width, places, limit);
  for (const block of blocks) {
    const start = floorTo(block.minute, wide.minutes);
    eachCell(block, (ref, cell) => wide.add(counts, ref, start, cell));
  }
  if (blocks.length > 0) counts.mark(environment, { [narrow.mark]: reached(blocks, places, limit) });
  return blocks.length;
}

/**
 * Deletes the oldest blocks of counts of an environment that are rolled up and past their horizon. Call it in a transaction.
 * @param limit maximum number of blocks to delete
 * @returns blocks deleted: fewer than `limit` if none are left
 */
export function expire(
  store: UsageTables,
  counts: HotCounts,
  environment: number,
  horizons: Horizons,
  limit: number,
): number {
  const { minutes, hours, minutesFrom, hoursFrom } = counts.carriedOf(environment);
  const remove = (width: BucketWidth, to: number, room: number): number => {
    const blocks = blocksIn(store, environment, width, { from: 0, to }, room);
    for (const { key, minute } of blocks) {
      store.counts.removeSync(key);
      counts.drop(bucketOf(width, minute));
    }
    return blocks.length;
  };
  let removed = remove(bucketWidth.minute, Math.min(placeOf(horizons.minutes), minutes), limit);
  if (removed > 0) counts.mark(environment, { minutesFrom: Math.max(minutesFrom, horizons.minutes) });
  const ofHours = remove(bucketWidth.hour, Math.min(placeOf(horizons.hours), hours), limit - removed);
  if (ofHours > 0) counts.mark(environment, { hoursFrom: Math.max(hoursFrom, horizons.hours) });
  removed += ofHours;
  counts.put();
  return removed + remove(bucketWidth.day, placeOf(horizons.days), limit - removed);
}

function blocksIn(
  store: UsageTables,
  environment: number,
  width: BucketWidth,
  places: Places,
  limit: number,
): StoredBlock<Counts>[] {
  if (limit === 0 || places.from >= places.to) return [];
  return blocksAt(store.counts, countsCodec, environment, width, places, limit);
}

function reached(blocks: readonly StoredBlock<Counts>[], { to }: Places, limit: number): number {
  const last = blocks.at(-1)!;
  return blocks.length < limit ? to : placeOf(last.minute, blockOf(last.firstRef)) + 1;
}

function eachCell(
  { firstRef, cells }: StoredBlock<Counts>,
  visit: (ref: number, cell: Counts) => void,
): void {
  for (const [place, cell] of cells.entries()) if (cell !== undefined) visit(firstRef + place, cell);
}

function floorTo(minute: number, width: number): number {
  return Math.floor(minute / width) * width;
}
