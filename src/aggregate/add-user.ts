import type { HotTables } from './hot-tables.ts';

const minutesPerDay = 1440;

/** Adds a user, by the two halves of the hash, to a series in a minute (since the epoch). Call it in a transaction. */
export function addUser(
  { seen, sketches, counts }: Pick<HotTables, 'seen' | 'sketches' | 'counts'>,
  ref: number,
  minute: number,
  high: number,
  low: number,
): void {
  seen.mark(ref, minute);
  sketches.add(ref, Math.floor(minute / minutesPerDay), high, low);
  counts.noteUser(ref, minute);
}
