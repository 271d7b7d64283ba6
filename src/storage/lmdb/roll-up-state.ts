import { blocksPerEnvironment, bucketWidth, lastBucket, minutesPerDay, numbersOfEnvironments } from './blocks.ts';
import { prefixKey } from './key-prefix.ts';
import { type LmdbEnvironment, openTable, type Table } from './lmdb.ts';
import { readAt, type Snapshot } from './snapshot.ts';

/**
 * The roll-up state of the counts of an environment. Once a minute is over, its counts are added to the cell of its
 * hour, and later to the cell of its day. Hour cells lack only the minutes from `minutes` on, and day cells lack only
 * the hours from `hours` on. The narrower cells stay until their retention ends.
 *
 * Key: environment (u32, big-endian). Value: the numbers, as little-endian doubles. `lateUsers` can be missing.
 */
export interface RollUpState {
  /** The first place (see `computePlace`) whose minute cells were not added to their hour cell yet. */
  readonly minutes: number;
  /** The first place whose hour cells were not added to their day cell yet. */
  readonly hours: number;
  /** The minute (since the epoch) before which minute cells were deleted or never existed. */
  readonly minutesFrom: number;
  /** The minute before which hour cells were deleted or never existed. */
  readonly hoursFrom: number;
  /**
   * Number of commits that added to a rolled-up cell. While no field of this state changes, the rolled-up counts do not
   * change.
   */
  readonly late: number;
  /**
   * Number of commits that added a user to a past day (see `daysOver`). While no field of this state changes, the users
   * of past days do not change.
   */
  readonly lateUsers: number;
}

/** The initial state: nothing is rolled up, and nothing was deleted. */
export const noRollUp: RollUpState = { minutes: 0, hours: 0, minutesFrom: 0, hoursFrom: 0, late: 0, lateUsers: 0 };

/** The names of the numbers, in the order of their storage. */
const fields = Object.keys(noRollUp) as (keyof RollUpState)[];

/** The first day (since the epoch, UTC) with minutes that are not rolled up. All earlier days are over. */
export function daysOver({ minutes }: RollUpState): number {
  return Math.floor(minutes / blocksPerEnvironment / minutesPerDay);
}

export function readRollUpState(table: Table, environment: number, at?: Snapshot): RollUpState {
  const value = table.get(prefixKey(environment), readAt(at));
  if (value === undefined) return noRollUp;
  const numbers = fields.map((field, at) => [field, at * 8 < value.length ? value.readDoubleLE(at * 8) : 0]);
  return Object.fromEntries(numbers) as RollUpState;
}

/** Writes the roll-up state. Call this in the transaction that changes the counts. */
export function putRollUpState(table: Table, environment: number, carried: RollUpState): void {
  const value = Buffer.allocUnsafe(fields.length * 8);
  for (const [at, field] of fields.entries()) value.writeDoubleLE(carried[field], at * 8);
  table.putSync(prefixKey(environment), value);
}

/**
 * Migrates layout 1 to 2. In layout 1, each count is in one cell only: first in a minute cell, later in an hour cell,
 * and then in a day cell. The migration itself rolls up nothing. It records that old hours and days have no narrower
 * cells. Upkeep rolls up the other counts in the background. Until then, reports read the narrower cells.
 */
export function initializeRollUp(lmdb: LmdbEnvironment): void {
  const counts = openTable(lmdb, 'counts');
  const carried = openTable(lmdb, 'carried');
  for (const environment of numbersOfEnvironments(counts)) {
    const hour = lastBucket(counts, environment, bucketWidth.hour);
    const day = lastBucket(counts, environment, bucketWidth.day);
    const minutesFrom = hour === undefined ? 0 : hour + 60;
    const hoursFrom = day === undefined ? 0 : day + minutesPerDay;
    putRollUpState(carried, environment, { ...noRollUp, minutesFrom, hoursFrom });
  }
}
