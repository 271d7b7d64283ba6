import { constants, copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'lmdb';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { isPresent } from '../../runtime/files.ts';
import { cannotOpen, checkDataFiles, getDataFile, type StoreName } from './data-directory.ts';
import { syncPath } from './disk.ts';
import { type LmdbEnvironment, openLmdb, openRecords, transact } from './lmdb.ts';
import { initializeRollUp } from './roll-up-state.ts';

/**
 * The layout of a store: its tables, and the format of their keys and values. The store records the number of its
 * layout. A change that an earlier version cannot read needs a migration step, which increments the number.
 */
export interface Layout {
  readonly store: StoreName;
  /** The first step migrates layout 1 to 2, and so on. The last step results in the layout of this program. */
  readonly steps: readonly Step[];
  /**
   * The layout number while a journal can have data that the store lacks. Otherwise the number is one more than the
   * number of steps.
   */
  readonly journalled?: number;
}

/** Migrates a store to the next layout, within one transaction. */
type Step = (lmdb: LmdbEnvironment) => void;

export const accountsLayout: Layout = { store: 'accounts', steps: [] };
export const usageLayout: Layout = { store: 'usage', steps: [initializeRollUp], journalled: 3 };
export const spoolLayout: Layout = { store: 'spool', steps: [], journalled: 2 };

export const layouts: readonly Layout[] = [accountsLayout, usageLayout, spoolLayout];

export function currentLayout({ steps }: Layout): number {
  return 1 + steps.length;
}

/**
 * Opens a store and migrates it to the layout of this program. Before the first step, the file is copied to
 * `layout-N.mdb` next to it. The copy is kept. A store without a number is new or from version 0.1.0, and has layout 1.
 * @throws {Error} if a later version wrote the store, which is then unchanged
 */
export function openLaidOut(data: string, layout: Layout): LmdbEnvironment {
  const folder = join(data, layout.store);
  const isNew = !isPresent(getDataFile(data, layout.store));
  const lmdb = openLmdb(folder);
  try {
    // The store of accounts gets its layout number later, in `prepareStore`.
    if (!isNew) migrate(lmdb, data, layout);
    else if (layout.store !== 'accounts') writeLayout(lmdb, currentLayout(layout));
    return lmdb;
  } catch (error) {
    void lmdb.close();
    throw error;
  }
}

/**
 * Opens a store that a service can be using, without migrating the store. @throws {Error} if the store has another
 * layout
 */
export function attachLaidOut(data: string, layout: Layout): LmdbEnvironment {
  const lmdb = openLmdb(join(data, layout.store));
  const found = plainLayout(lmdb, layout);
  const current = currentLayout(layout);
  if (found === current) return lmdb;
  void lmdb.close();
  if (found === undefined) throw cannotOpen(getDataFile(data, layout.store), 'it has no layout number');
  if (found > current) throw tooNew(data, layout, found);
  throw new Error(
    `Cannot use ${data}: its ${layout.store} store has layout ${found}, and this version uses ${current}; start flagmeter serve of this version on it first`,
  );
}

/** Checks the pages of the stores as `checkDataFiles` does, and their layouts, before anything is changed. */
export function checkStores(data: string, clock: Pick<Clock, 'monotonic'> = systemClock): boolean {
  const fullyChecked = checkDataFiles(data, clock);
  checkLayouts(data);
  return fullyChecked;
}

/** Checks the layouts of stores. A service can be using the stores. @throws {Error} if a later version wrote a store */
export function checkLayouts(data: string, stores: readonly Layout[] = layouts): void {
  for (const layout of stores) {
    if (!isPresent(getDataFile(data, layout.store))) continue;
    const lmdb = openLmdb(join(data, layout.store));
    const found = plainLayout(lmdb, layout);
    void lmdb.close();
    if (found !== undefined && found > currentLayout(layout)) throw tooNew(data, layout, found);
  }
}

/**
 * Opens a store that no other process uses, without migrating it; `undefined` if the store has another layout than this
 * program.
 */
export function openIfCurrent(data: string, layout: Layout): LmdbEnvironment | undefined {
  const lmdb = openLmdb(join(data, layout.store));
  if (plainLayout(lmdb, layout) === currentLayout(layout)) return lmdb;
  void lmdb.close();
  return undefined;
}

export function readLayout(lmdb: LmdbEnvironment): number | undefined {
  const options = { name: 'numbers', encoding: 'json', create: false } as const;
  const numbers: Database<number, string> | undefined = lmdb.openDB<number, string>(options);
  return numbers?.get('layout');
}

/** The layout number of a store. If the store uses a journal, the number that it has without a journal. */
function plainLayout(lmdb: LmdbEnvironment, layout: Layout): number | undefined {
  const found = readLayout(lmdb);
  return found !== undefined && found === layout.journalled ? currentLayout(layout) : found;
}

function migrate(lmdb: LmdbEnvironment, data: string, layout: Layout): void {
  const kept = plainLayout(lmdb, layout);
  const isUnnumbered = kept === undefined && layout.store === 'usage';
  const found = kept ?? (isUnnumbered ? 1 : currentLayout(layout));
  if (found > currentLayout(layout)) throw tooNew(data, layout, found);
  if (found < currentLayout(layout)) keepCopy(join(data, layout.store), found);
  else if (isUnnumbered) writeLayout(lmdb, found);
  for (const [index, step] of layout.steps.entries()) {
    if (index + 1 < found) continue;
    transact(lmdb, () => {
      step(lmdb);
      openNumbers(lmdb).putSync('layout', index + 2);
    });
  }
}

/** Copies the data file. If the file system supports it, the copy shares its blocks with the data file. */
function keepCopy(folder: string, number: number): void {
  const copy = join(folder, `layout-${number}.mdb`);
  try {
    copyFileSync(join(folder, 'data.mdb'), `${copy}.tmp`, constants.COPYFILE_FICLONE);
    syncPath(`${copy}.tmp`);
    renameSync(`${copy}.tmp`, copy);
    syncPath(folder);
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`Cannot copy the store to ${copy} before its migration: ${why}; nothing was changed`);
  }
}

function tooNew(data: string, layout: Layout, found: number): Error {
  const must = 'start a version that supports it, or restore the data directory from an earlier backup';
  return new Error(
    `Cannot use ${data}: a later version of flagmeter wrote its ${layout.store}, in layout ${found}, and this version supports layouts up to ${currentLayout(layout)}; ${must}`,
  );
}

function writeLayout(lmdb: LmdbEnvironment, number: number): void {
  transact(lmdb, () => void openNumbers(lmdb).putSync('layout', number));
}

function openNumbers(lmdb: LmdbEnvironment) {
  return openRecords<number>(lmdb, 'numbers');
}

/*
 * A store's records about its journals, which hold accepted data that is not in the store yet. One record is a random
 * id, by which segments of other stores are rejected. A record per journal has the number of the last frame in the
 * store. While the store is in use, it has another layout number, so that a version without journals cannot open it.
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

/** The last frame of a journal that the store holds; 0 if it holds no frame. */
export function readFolded(lmdb: LmdbEnvironment, lane: string): number {
  return openNumbers(lmdb).get(foldedKey(lane)) ?? 0;
}

/**
 * Records that the store holds a frame and all earlier frames. Call this in the transaction that puts the contents of
 * these frames.
 */
export function putFolded(lmdb: LmdbEnvironment, lane: string, sequence: number): void {
  openNumbers(lmdb).putSync(foldedKey(lane), sequence);
}

/** True if the store's journals can have data that the store lacks. */
export function isJournalled(lmdb: LmdbEnvironment, layout: Layout): boolean {
  return readLayout(lmdb) === layout.journalled;
}

/** Starts or stops the use of journals. Fold all journals before you stop their use. */
export function setJournalUse(lmdb: LmdbEnvironment, layout: Layout, isUsed: boolean): void {
  writeLayout(lmdb, isUsed ? layout.journalled! : currentLayout(layout));
}

/** Separates a copy of a store from the journals of the original. Its new journals get another id. */
export function forgetJournals(lmdb: LmdbEnvironment, layout: Layout): void {
  if (readJournalId(lmdb) === undefined) return;
  const numbers = openNumbers(lmdb);
  transact(lmdb, () => {
    for (const key of Array.from(numbers.getKeys())) {
      if (key === journalId || key.startsWith(foldedKey(''))) numbers.removeSync(key);
    }
    numbers.putSync('layout', currentLayout(layout));
  });
}
