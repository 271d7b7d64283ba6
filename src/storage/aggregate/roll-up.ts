import { type BucketWidth, blocksAt, bucketOf, bucketWidth, minutesPerDay, placeOf } from '../lmdb/blocks.ts';
import { measurementCodec } from '../lmdb/cells.ts';
import type { Horizons } from '../lmdb/retention.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import type { HotTables } from './hot-tables.ts';
import { mergeMeasurement } from './merge.ts';

/**
 * Moves the oldest measurements of an environment that are past a horizon into buckets of the next width, and deletes those past
 * the last horizon. Sums over a range of whole buckets stay the same, to the last bit. Call it in a transaction.
 * @param limit maximum number of blocks to move; bounds how long a batch waits
 * @returns blocks moved: fewer than `limit` if none are left
 */
export function rollUp(
  store: UsageStore,
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
  readonly store: UsageStore;
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
