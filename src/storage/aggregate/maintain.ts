/*
 * src/storage/aggregate: the work of the commit workers on the usage store, except writing batches
 * (src/storage/commit). merge.ts merges cells, hot-tables.ts caches them, and hyperloglog.ts and unique-users.ts count
 * unique users. This file rolls up counts and deletes old data.
 */

import {
  type BucketWidth,
  blocksAt,
  bucketWidth,
  type Counts,
  computeBlock,
  computePlace,
  countsCodec,
  encodeBucket,
  floorTo,
  type Horizons,
  measurementCodec,
  minutesPerDay,
  type Places,
  type StoredBlock,
} from '../lmdb/blocks.ts';
import { removeAllExposures, sweepExposures } from '../lmdb/exposures.ts';
import { removeAllIdentities, sweepInstances } from '../lmdb/instances.ts';
import { removeByPrefix } from '../lmdb/key-prefix.ts';
import { removeRemembered } from '../lmdb/messages.ts';
import type { Deletion } from '../lmdb/records.ts';
import { deleteSketches } from '../lmdb/sketches.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { HotCounts } from './hot-cells.ts';
import type { HotTables } from './hot-tables.ts';
import { mergeMeasurement } from './merge.ts';

export type Maintenance = RetentionStep | DeletionStep;

interface Step {
  /** Maximum number of records that the step touches. It is small, because batches wait until the step ends. */
  readonly limit: number;
}

export interface RetentionStep extends Step {
  readonly task: 'retention';
  readonly environment: number;
  readonly horizons: Horizons;
  /** Unix ms. */
  readonly now: number;
  readonly exposureDays: number;
}

interface DeletionStep extends Step {
  readonly task: 'deletion';
  readonly deletion: Deletion;
}

/** Does one step, inside a transaction. @returns the number of records touched; 0 if nothing is left to do */
export function maintain(store: UsageTables, hot: HotTables, step: Maintenance): number {
  const chores = step.task === 'deletion' ? erasures(store, step.deletion) : retentions(store, hot, step);
  let touched = 0;
  for (const chore of chores) if (touched < step.limit) touched += chore(step.limit - touched);
  return touched;
}

function retentions(store: UsageTables, hot: HotTables, step: RetentionStep): readonly Chore[] {
  const { environment, horizons, now, exposureDays } = step;
  const sketchDays = Math.floor(horizons.days / minutesPerDay);
  return [
    (room) => rollUpCounts(store, hot.counts, environment, Math.floor(now / 60_000) - 1, room),
    (room) => expire(store, hot.counts, environment, horizons, room),
    (room) => rollUpMeasurements(store, hot, environment, horizons, room),
    (room) => deleteSketches(store, environment, sketchDays, room),
    (room) => sweepInstances(store, now, room),
    (room) => sweepExposures(store, now, room, exposureDays),
    (room) => hot.senders.step(environment, now, room),
    (room) => hot.totals.step(now, room),
  ];
}

/** One task of an upkeep step, which touches at most `room` records. @returns the number of records touched */
export type Chore = (room: number) => number;

/**
 * The chores that remove all data of a deleted application or environment. Call this once no thread writes such data,
 * because data in the memory of workers is not removed. Deleting an environment keeps the ledger, which belongs to the
 * application. Records of recent messages expire by themselves.
 */
export function erasures(store: UsageTables, { application, environments, whole }: Deletion): readonly Chore[] {
  const { counts, carried, measurements, sketches, seen, senders, series } = store;
  const inEnvironments = environments.flatMap((environment): Chore[] => [
    ...[counts, carried, measurements, sketches, seen, senders, series].map(
      (table) => (room: number) => removeByPrefix(table, environment, room),
    ),
    (room) => removeAllExposures(store, environment, room),
    (room) => removeRemembered(store, application, environment, room),
  ]);
  if (!whole) return inEnvironments;
  return [
    ...inEnvironments,
    (room) => removeAllIdentities(store, application, room),
    (room) => removeByPrefix(store.ledger, application, room),
    (room) => removeByPrefix(store.totals, application, room),
  ];
}

/**
 * Moves measurements older than a horizon into buckets of the next width, the oldest first. Deletes measurements older
 * than the last horizon. Sums over whole buckets stay exactly the same. Call this in a transaction.
 * @param limit maximum number of blocks to move; bounds how long a batch waits
 * @returns the number of blocks moved, less than `limit` if no more blocks are left
 */
export function rollUpMeasurements(
  store: UsageTables,
  hot: HotTables,
  environment: number,
  horizons: Horizons,
  limit: number,
): number {
  const table = store.measurements;
  const cells = hot.measurements;
  const move = (width: BucketWidth, before: number, room: number, to?: Bucket) => {
    if (room === 0) return 0;
    const places = { from: 0, to: computePlace(before) };
    const blocks = blocksAt(table, measurementCodec, environment, width, places, room);
    for (const block of blocks) {
      table.removeSync(block.key);
      cells.drop(encodeBucket(width, block.minute));
      if (to === undefined) continue;
      const bucket = encodeBucket(to.width, floorTo(block.minute, to.minutes));
      eachCell(block, (ref, cell) => mergeMeasurement(cells.touch(ref, bucket), cell));
    }
    cells.put();
    return blocks.length;
  };
  let moved = move(bucketWidth.minute, horizons.minutes, limit, hourBucket);
  moved += move(bucketWidth.hour, horizons.hours, limit - moved, dayBucket);
  return moved + move(bucketWidth.day, horizons.days, limit - moved);
}

interface Bucket {
  readonly width: BucketWidth;
  readonly minutes: number;
}

const hourBucket: Bucket = { width: bucketWidth.hour, minutes: 60 };
const dayBucket: Bucket = { width: bucketWidth.day, minutes: minutesPerDay };

/**
 * Number of blocks that can be rolled up in the time of deleting one block. Rolling up is faster, because the sums are
 * in memory.
 */
const perRecord = 8;

/**
 * Rolls up counts to the next width: completed minutes to their hours, completed hours to their days. Call this in a
 * transaction.
 * @param before the minute (since the epoch) up to which buckets are complete
 * @param limit maximum amount of work; bounds how long a batch waits
 * @returns the amount of work done, in units of `limit`; less than `limit` if no work is left
 */
export function rollUpCounts(
  store: UsageTables,
  counts: HotCounts,
  environment: number,
  before: number,
  limit: number,
): number {
  const room = limit * perRecord;
  const movedMinutes = rollUpWidth(store, counts, environment, minutesToHours, before, room);
  counts.put(); // The next roll-up reads these hours from the table.
  const movedHours = rollUpWidth(store, counts, environment, hoursToDays, before, room - movedMinutes);
  counts.put();
  return Math.ceil((movedMinutes + movedHours) / perRecord);
}

interface Widths {
  readonly from: Bucket;
  readonly to: Bucket;
  readonly field: 'minutes' | 'hours';
  readonly add: 'addToHour' | 'addToDay';
}

const minuteBucket: Bucket = { width: bucketWidth.minute, minutes: 1 };
const minutesToHours: Widths = { from: minuteBucket, to: hourBucket, field: 'minutes', add: 'addToHour' };
const hoursToDays: Widths = { from: hourBucket, to: dayBucket, field: 'hours', add: 'addToDay' };

function rollUpWidth(
  store: UsageTables,
  counts: HotCounts,
  environment: number,
  { from, to, field, add }: Widths,
  before: number,
  limit: number,
): number {
  const places = { from: counts.getRollUpState(environment)[field], to: computePlace(floorTo(before, from.minutes)) };
  const blocks = blocksIn(store, environment, from.width, places, limit);
  for (const block of blocks) {
    const start = floorTo(block.minute, to.minutes);
    eachCell(block, (ref, cell) => counts[add](ref, start, cell));
  }
  if (blocks.length > 0) counts.updateRollUpState(environment, { [field]: reached(blocks, places, limit) });
  return blocks.length;
}

/**
 * Deletes the oldest rolled-up blocks past their horizon. Call this in a transaction.
 * @returns the number of blocks deleted, at most `limit`
 */
export function expire(
  store: UsageTables,
  counts: HotCounts,
  environment: number,
  horizons: Horizons,
  limit: number,
): number {
  const { minutes, hours, minutesFrom, hoursFrom } = counts.getRollUpState(environment);
  const remove = (width: BucketWidth, to: number, room: number): number => {
    const blocks = blocksIn(store, environment, width, { from: 0, to }, room);
    for (const { key, minute } of blocks) {
      store.counts.removeSync(key);
      counts.drop(encodeBucket(width, minute));
    }
    return blocks.length;
  };
  let removed = remove(bucketWidth.minute, Math.min(computePlace(horizons.minutes), minutes), limit);
  if (removed > 0) counts.updateRollUpState(environment, { minutesFrom: Math.max(minutesFrom, horizons.minutes) });
  const ofHours = remove(bucketWidth.hour, Math.min(computePlace(horizons.hours), hours), limit - removed);
  if (ofHours > 0) counts.updateRollUpState(environment, { hoursFrom: Math.max(hoursFrom, horizons.hours) });
  removed += ofHours;
  counts.put();
  return removed + remove(bucketWidth.day, computePlace(horizons.days), limit - removed);
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
  return blocks.length < limit ? to : computePlace(last.minute, computeBlock(last.firstRef)) + 1;
}

function eachCell<T>({ firstRef, cells }: StoredBlock<T>, visit: (ref: number, cell: T) => void): void {
  for (const [place, cell] of cells.entries()) if (cell !== undefined) visit(firstRef + place, cell);
}
