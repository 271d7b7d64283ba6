import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent } from '../../runtime/presence.ts';
import { currentLayout, type Layout, readLayout } from './layout.ts';
import { type LmdbEnvironment, openRecords, transact } from './lmdb.ts';

/*
 * A store's records about its journals, which hold accepted data that is not in the store yet. They are a random id, by which
 * segments of another store are rejected, and for each journal the last frame in the store. While the store is in use, its
 * layout number is one that requires a journal, so that an earlier version does not open it without.
 */

const journalId = 'journal';
const foldedKey = (lane: string) => `folded/${lane}`;

export function readJournalId(lmdb: LmdbEnvironment): Buffer | undefined {
  const known = openRecords<string>(lmdb, 'numbers').get(journalId);
  return known === undefined ? undefined : Buffer.from(known, 'hex');
}

export function openJournalId(lmdb: LmdbEnvironment, randomBytes: (length: number) => Uint8Array): Buffer {
  const known = readJournalId(lmdb);
  if (known !== undefined) return known;
  const id = Buffer.from(randomBytes(16));
  transact(lmdb, () => void openRecords<string>(lmdb, 'numbers').putSync(journalId, id.toString('hex')));
  return id;
}

/** The directory with a data directory's journals, each named by the number of its lane. */
export function journalsOf(data: string): string {
  return join(data, 'journal');
}

export function journalLanes(data: string): string[] {
  try {
    return readdirSync(journalsOf(data))
      .filter((name) => /^\d+$/.test(name))
      .sort();
  } catch {
    return [];
  }
}

export const spoolLane = 'spool';

/** As `journalLanes`, for the spool: one lane, if it exists. */
export function spoolLanes(data: string): string[] {
  return isPresent(join(journalsOf(data), spoolLane)) ? [spoolLane] : [];
}

/** The last frame of a journal that the store holds; 0 for none. */
export function readFolded(lmdb: LmdbEnvironment, lane: string): number {
  return openRecords<number>(lmdb, 'numbers').get(foldedKey(lane)) ?? 0;
}

/** Records that the store holds a frame and all before it. Call it in the transaction that puts their contents. */
export function putFolded(lmdb: LmdbEnvironment, lane: string, sequence: number): void {
  openRecords<number>(lmdb, 'numbers').putSync(foldedKey(lane), sequence);
}

/** Whether the store's journals may hold what it lacks. */
export function isJournalled(lmdb: LmdbEnvironment, layout: Layout): boolean {
  return readLayout(lmdb) === layout.journalled;
}

/** Starts or stops the use of journals. All of them must be folded before the stop. */
export function markJournal(lmdb: LmdbEnvironment, layout: Layout, isUsed: boolean): void {
  const number = isUsed ? layout.journalled : currentLayout(layout);
  transact(lmdb, () => void openRecords<number>(lmdb, 'numbers').putSync('layout', number!));
}

/** Separates a copy of a store from the original's journals: it gets journals with another id. */
export function forgetJournals(lmdb: LmdbEnvironment, layout: Layout): void {
  if (readJournalId(lmdb) === undefined) return;
  const numbers = openRecords<number>(lmdb, 'numbers');
  transact(lmdb, () => {
    for (const key of Array.from(numbers.getKeys())) {
      if (key === journalId || key.startsWith(foldedKey(''))) numbers.removeSync(key);
    }
    numbers.putSync('layout', currentLayout(layout));
  });
}
