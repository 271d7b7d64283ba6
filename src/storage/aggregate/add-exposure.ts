import { type Exposures, listPerson, readExposures, rowsPerPerson } from '../lmdb/exposures.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { addCounts } from './merge.ts';

/**
 * The exposures of a person, who is listed when they have none yet. Call it in a transaction.
 * @param seconds the time, Unix seconds
 * @param people most people of an environment
 * @returns `undefined` when the environment has no room for this person
 */
export function openExposures(
  store: UsageStore,
  key: Buffer,
  seconds: number,
  people: number,
): Exposures | undefined {
  return readExposures(store, key) ?? listPerson(store, key, seconds, people);
}

/** Adds what a person was given of a series between two times (Unix seconds), unless the person has too many rows. */
export function addExposure(
  { rows }: Exposures,
  ordinal: number,
  first: number,
  last: number,
  checks: number,
  used: number,
  viewed: number,
): void {
  let row = rows.get(ordinal);
  if (row === undefined) {
    if (rows.size >= rowsPerPerson) return;
    row = { firstSeen: first, lastSeen: last, checks: 0, used: 0, viewed: 0 };
    rows.set(ordinal, row);
  }
  if (first < row.firstSeen) row.firstSeen = first;
  if (last > row.lastSeen) row.lastSeen = last;
  addCounts(row, checks, used, viewed);
}
