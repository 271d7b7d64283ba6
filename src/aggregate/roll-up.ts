import { type BucketWidth, bucketOf, bucketWidth, firstBlocks } from '../store/blocks.ts';
import {
  type CellCodec,
  type Counts,
  countsCodec,
  type Measurement,
  measurementCodec,
} from '../store/cells.ts';
import type { Table } from '../store/lmdb.ts';
import type { Horizons } from '../store/retention.ts';
import type { UsageStore } from '../store/usage.ts';
import type { HotCells } from './hot-cells.ts';
import type { HotTables } from './hot-tables.ts';
import { mergeCounts, mergeMeasurement } from './merge.ts';

/** A table of cells, and how to merge two of its cells. */
interface Rolled<T> {
  readonly table: Table;
  readonly codec: CellCodec<T>;
  readonly cells: HotCells<T>;
  merge(into: T, from: T): void;
}

/**
 * Moves the oldest blocks of an environment that are past a horizon into buckets of the next width, and deletes those past
 * the last horizon. The sums over a range of whole buckets stay the same. Call it in a transaction.
 * @param limit most blocks to move; it bounds how long a batch waits
 * @returns blocks moved: fewer than `limit` when none are left
 */
export function rollUp(
  store: UsageStore,
  hot: HotTables,
  environment: number,
  horizons: Horizons,
  limit: number,
): number {
  const counts: Rolled<Counts> = {
    table: store.counts,
    codec: countsCodec,
    cells: hot.counts,
    merge: mergeCounts,
  };
  const measurements: Rolled<Measurement> = {
    table: store.measurements,
    codec: measurementCodec,
    cells: hot.measurements,
    merge: mergeMeasurement,
  };
  const moved = rollUpTable(counts, environment, horizons, limit);
  return moved + rollUpTable(measurements, environment, horizons, limit - moved);
}

function rollUpTable<T>(rolled: Rolled<T>, environment: number, horizons: Horizons, limit: number): number {
  const { minute, hour, day } = bucketWidth;
  let moved = move(rolled, environment, minute, horizons.minutes, { width: hour, minutes: 60 }, limit);
  moved += move(rolled, environment, hour, horizons.hours, { width: day, minutes: 1440 }, limit - moved);
  return moved + move(rolled, environment, day, horizons.days, undefined, limit - moved);
}

function move<T>(
  { table, codec, cells, merge }: Rolled<T>,
  environment: number,
  width: BucketWidth,
  before: number,
  to: { readonly width: BucketWidth; readonly minutes: number } | undefined,
  limit: number,
): number {
  if (limit === 0) return 0;
  const blocks = firstBlocks(table, codec, environment, width, before, limit);
  for (const block of blocks) {
    table.removeSync(block.key);
    cells.drop(bucketOf(width, block.minute));
    if (to === undefined) continue;
    const bucket = bucketOf(to.width, Math.floor(block.minute / to.minutes) * to.minutes);
    for (const [place, cell] of block.cells.entries()) {
      if (cell !== undefined) merge(cells.touch(block.firstRef + place, bucket), cell);
    }
  }
  cells.put();
  return blocks.length;
}
