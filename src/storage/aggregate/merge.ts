import type { Counts, Measurement } from '../lmdb/blocks.ts';
import { type Exposures, listPerson, readExposures, rowsPerPerson } from '../lmdb/exposures.ts';
import type { LedgerTotal } from '../lmdb/ledger.ts';
import type { UsageTables } from '../lmdb/usage.ts';

export function addCounts(into: Counts, checks: number, used: number, viewed: number): void {
  into.checks += checks;
  into.used += used;
  into.viewed += viewed;
}

export function mergeCounts(into: Counts, { checks, used, viewed }: Counts): void {
  addCounts(into, checks, used, viewed);
}

/** Adds one reported value. Of two values with the same time, the value that arrives later is the last value. */
export function addValue(into: Measurement, value: number, at: number): void {
  into.sum = clamp(into.sum + value);
  into.count += 1;
  if (at >= into.lastAt) {
    into.last = value;
    into.lastAt = at;
  }
  if (value < into.min) into.min = value;
  if (value > into.max) into.max = value;
}

/** Adds another cell of the same series. `from` is the later cell. */
export function mergeMeasurement(into: Measurement, from: Measurement): void {
  into.sum = clamp(into.sum + from.sum);
  into.count += from.count;
  if (from.lastAt >= into.lastAt) {
    into.last = from.last;
    into.lastAt = from.lastAt;
  }
  into.min = Math.min(into.min, from.min);
  into.max = Math.max(into.max, from.max);
}

export function mergeLedgerTotal(into: LedgerTotal, from: Readonly<LedgerTotal>): void {
  into.count += from.count;
  if (from.lastAt < into.lastAt) {
    into.example ??= from.example;
    return;
  }
  into.lastAt = from.lastAt;
  into.example = from.example ?? into.example;
}

/** Keeps a sum finite: caps it at the largest double, because JSON has no Infinity. */
function clamp(sum: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum));
}

/** Adds a person with no exposures yet. @param seconds Unix seconds @returns `undefined` if the environment is full */
export function openExposures(store: UsageTables, key: Buffer, seconds: number, people: number): Exposures | undefined {
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
