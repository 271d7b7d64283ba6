import { minutesPerDay } from '../lmdb/blocks.ts';
import type { HotTables } from './hot-tables.ts';

/** Adds a user, by the two halves of the hash, to a series in a minute (since the epoch). Call it in a transaction. */
export function addUser(
  hot: Pick<HotTables, 'seen' | 'sketches' | 'counts'>,
  ref: number,
  minute: number,
  high: number,
  low: number,
): void {
  hot.seen.mark(ref, minute);
  countUser(hot, ref, minute, high, low);
}

/** The same, without recording when the series was seen. */
export function countUser(
  { sketches, counts }: Pick<HotTables, 'sketches' | 'counts'>,
  ref: number,
  minute: number,
  high: number,
  low: number,
): void {
  sketches.add(ref, Math.floor(minute / minutesPerDay), high, low);
  counts.noteUser(ref, minute);
}
