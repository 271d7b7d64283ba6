import { type Exposures, listPerson, readExposures, rowsPerPerson } from '../lmdb/exposures.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { addCounts } from './merge.ts';

/**
 * The exposures of a person. A person without exposures is listed first. Call it in a transaction.
 * @param seconds the time, Unix seconds
 * @param people maximum number of people per environment
 * @returns `undefined` if the environment has no room for this person
 */
export function openExposures(
  store: UsageStore,
  key: Buffer,
  seconds: number,
  people: number,
): Exposures | undefined {
  return readExposures(store, key) ?? listPerson(store, key, seconds, people);
}

/** Adds a person's exposure to a series between two times (Unix seconds), unless the person has too many rows. */
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
