import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent } from '../../runtime/presence.ts';
import { currentLayout, type Layout, readLayout } from './layout.ts';
import { type LmdbEnvironment, openRecords } from './lmdb.ts';
import { transact } from './transact.ts';

/*
 * What a store keeps of its journals, which hold what was accepted and is not in the store yet: a random id, by which segments
 * of another store are refused, and for each journal the last frame that the store has. While the store is in use, its layout is
 * the one that demands a journal, so that an earlier version does not open it without one.
 */

const journalId = 'journal';
const foldedKey = (lane: string) => `folded/${lane}`;

/** The id of a store's journals; `undefined` if it has none yet. */
export function readJournalId(lmdb: LmdbEnvironment): Buffer | undefined {
  const known = openRecords<string>(lmdb, 'numbers').get(journalId);
  return known === undefined ? undefined : Buffer.from(known, 'hex');
}

/** The id of a store's journals, made at first use. */
export function openJournalId(lmdb: LmdbEnvironment, randomBytes: (length: number) => Uint8Array): Buffer {
  const known = readJournalId(lmdb);
  if (known !== undefined) return known;
  const id = Buffer.from(randomBytes(16));
  transact(lmdb, () => void openRecords<string>(lmdb, 'numbers').putSync(journalId, id.toString('hex')));
  return id;
}

/** Where the journals of a data directory are, each under the number of its lane. */
export function journalsOf(data: string): string {
  return join(data, 'journal');
}

/** The lanes that have a journal in a data directory. */
export function journalLanes(data: string): string[] {
  try {
    return readdirSync(journalsOf(data))
      .filter((name) => /^\d+$/.test(name))
      .sort();
  } catch {
    return [];
  }
}

/** The name of the journal of a spool, in place of the number of a lane. */
export const spoolLane = 'spool';

/** The same for the spool of a data directory: one lane, if it is there. */
export function spoolLanes(data: string): string[] {
  return isPresent(join(journalsOf(data), spoolLane)) ? [spoolLane] : [];
}

/** The last frame of a journal that the store holds; 0 for none. */
export function readFolded(lmdb: LmdbEnvironment, lane: string): number {
  return openRecords<number>(lmdb, 'numbers').get(foldedKey(lane)) ?? 0;
}

/** Notes that the store holds a frame and all before it. Call it in the transaction that puts what they hold. */
export function putFolded(lmdb: LmdbEnvironment, lane: string, sequence: number): void {
  openRecords<number>(lmdb, 'numbers').putSync(foldedKey(lane), sequence);
}

/** Whether the store's journals may hold what it lacks. */
export function isJournalled(lmdb: LmdbEnvironment, layout: Layout): boolean {
  return readLayout(lmdb) === layout.journalled;
}

/** Begins or ends the use of journals. At the end all of them must be folded. */
export function markJournal(lmdb: LmdbEnvironment, layout: Layout, isUsed: boolean): void {
  const number = isUsed ? layout.journalled : currentLayout(layout);
  transact(lmdb, () => void openRecords<number>(lmdb, 'numbers').putSync('layout', number!));
}

/** Makes a copy of a store independent of the journals of the original: it begins journals of its own, with another id. */
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
