import { bucketWidth, lastBucket, minutesPerDay, numbersOfEnvironments } from './blocks.ts';
import { notCarried, putCarried } from './carried.ts';
import { type LmdbEnvironment, openTable } from './lmdb.ts';

/**
 * From layout 1 to 2. In layout 1 each count is in one cell: that of its minute, or once that was rolled up, of its hour, and then
 * of its day. So nothing is carried yet, and what has cells of an hour or a day lacks narrower ones. Upkeep carries the
 * rest in the background; until it has, reports read the narrower cells.
 */
export function carryNothing(lmdb: LmdbEnvironment): void {
  const counts = openTable(lmdb, 'counts');
  const carried = openTable(lmdb, 'carried');
  for (const environment of numbersOfEnvironments(counts)) {
    const hour = lastBucket(counts, environment, bucketWidth.hour);
    const day = lastBucket(counts, environment, bucketWidth.day);
    const minutesFrom = hour === undefined ? 0 : hour + 60;
    const hoursFrom = day === undefined ? 0 : day + minutesPerDay;
    putCarried(carried, environment, { ...notCarried, minutesFrom, hoursFrom });
  }
}
