import { bucketWidth, lastBucket, minutesPerDay, numbersOfEnvironments } from './blocks.ts';
import { notCarried, putCarried } from './carried.ts';
import { type LmdbEnvironment, openTable } from './lmdb.ts';

/**
 * Migrates layout 1 to 2. In layout 1 each count is in one cell only: first its minute's, later its hour's, and then its day's.
 * Nothing is rolled up at first, and hours and days with cells lack narrower ones. Upkeep rolls up the rest in the background;
 * until then, reports read the narrower cells.
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
