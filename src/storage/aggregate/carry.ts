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
import { type Counts, countsCodec } from '../lmdb/cells.ts';
import type { Horizons } from '../lmdb/retention.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import type { HotCounts } from './hot-counts.ts';

const [hour, day] = [60, minutesPerDay];

/** Blocks that are carried in the time that it takes to delete one: their sums are in memory. */
const perRecord = 8;

/**
 * Carries counts of an environment to the next width: minutes that are over to their hours, hours that are over to their days.
 * So a report over months reads days, and none of their minutes. Call it in a transaction.
 * @param before the minute (since the epoch) up to which time is over
 * @param limit bounds how long a batch waits
 * @returns a part of the limit: less than it when nothing is left
 */
export function carry(
  store: UsageStore,
  counts: HotCounts,
  environment: number,
  before: number,
  limit: number,
): number {
  const room = limit * perRecord;
  const carriedMinutes = carryWidth(store, counts, environment, minutesToHours, before, room);
  counts.put(); // The hours are read from the table.
  const carriedHours = carryWidth(store, counts, environment, hoursToDays, before, room - carriedMinutes);
  counts.put();
  return Math.ceil((carriedMinutes + carriedHours) / perRecord);
}

/** From which width to which cells are carried. */
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

/** @returns blocks carried */
function carryWidth(
  store: UsageStore,
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
 * Deletes the oldest blocks of counts of an environment that are past their horizon, and carried. Call it in a transaction.
 * @param limit most blocks to delete
 * @returns blocks deleted: fewer than `limit` when none are left
 */
export function expire(
  store: UsageStore,
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
  store: UsageStore,
  environment: number,
  width: BucketWidth,
  places: Places,
  limit: number,
): StoredBlock<Counts>[] {
  if (limit === 0 || places.from >= places.to) return [];
  return blocksAt(store.counts, countsCodec, environment, width, places, limit);
}

/** The place up to which blocks are carried. */
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
