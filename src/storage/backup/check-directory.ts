import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent, readable } from '../../runtime/presence.ts';
import { checkCarried } from '../aggregate/check-carried.ts';
import { isFoldedWhole, type JournalPlace, journalPlace, openJournal, peopleOf } from '../commit/fold.ts';
import { JournalDamaged } from '../journal/errors.ts';
import { checkSegments, isJournalEmpty } from '../journal/lanes.ts';
import { JournalReader } from '../journal/reader.ts';
import { type AccountTables, accountTablesIn } from '../lmdb/accounts.ts';
import { checkPages } from '../lmdb/check-pages.ts';
import { dataFilesIn } from '../lmdb/data-file.ts';
import {
  isJournalled,
  journalLanes,
  journalsOf,
  readFolded,
  readJournalId,
  spoolLane,
  spoolLanes,
} from '../lmdb/journal-mark.ts';
import { accountsLayout, type Layout, openIfCurrent, spoolLayout, usageLayout } from '../lmdb/layout.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import { fromSnapshot, type Reading } from '../lmdb/snapshot.ts';
import { usageTablesIn } from '../lmdb/usage.ts';
import { checkAccounts } from './check-accounts.ts';
import { checkUsageTable, usageTables } from './check-usage.ts';
import type { Pace } from './pace.ts';

/**
 * Checks everything in a data directory: the pages of its files, the records of their tables and their references, the sums of
 * counts, and the frames of its journals. Nothing else may use the directory. Tables of a store with another layout than this
 * program's are not read.
 * @param found receives each finding at once
 * @returns whether no fault was found
 */
export async function checkDirectory(
  data: string,
  pace: Pace,
  found: (finding: Finding) => void,
): Promise<boolean> {
  let isSound = true;
  const tell = (finding: Finding) => {
    isSound &&= finding.isSound;
    found(finding);
  };
  const spool = join(data, 'spool/data.mdb');
  const files = isPresent(spool) ? [...dataFilesIn(data), spool] : dataFilesIn(data);
  for (const file of files) tell(await checkFile(file, pace));
  // The contents of a damaged file cannot be read.
  if (isSound) await checkTables(data, pace, tell);
  return isSound;
}

async function checkFile(file: string, pace: Pace): Promise<Finding> {
  const descriptor = readable(file, () => openSync(file, 'r'));
  try {
    let pages = 0;
    const total = fstatSync(descriptor).size;
    const checking = checkPages(descriptor);
    for (let step = checking.next(); ; step = checking.next()) {
      if (step.done)
        return {
          file,
          isSound: step.value === undefined,
          words: step.value ?? `in order, ${pages} pages in use`,
        };
      pages += 1;
      if (pace.isDue()) await pace.rest({ done: Math.min(total, pages * 4096), total });
    }
  } finally {
    closeSync(descriptor);
  }
}

async function checkTables(data: string, pace: Pace, tell: (finding: Finding) => void): Promise<void> {
  const lmdb = openIfCurrent(data, accountsLayout);
  if (lmdb === undefined) return;
  const accounts = accountTablesIn(lmdb);
  const file = join(data, 'accounts/data.mdb');
  try {
    const fault = await finish(checkAccounts(accounts), pace);
    tell({ file, isSound: fault === undefined, words: fault ?? 'every record is in order' });
    if (fault === undefined) await checkUsage(data, environmentsOf(accounts), pace, tell);
    await checkSpool(data, pace, tell);
  } finally {
    await lmdb.close();
  }
}

function environmentsOf(accounts: AccountTables): ReadonlySet<number> {
  const numbers = Array.from(accounts.applications.getRange(), ({ value }) =>
    value.environments.map(({ number }) => number),
  );
  return new Set(numbers.flat());
}

async function checkUsage(
  data: string,
  environments: ReadonlySet<number>,
  pace: Pace,
  tell: (finding: Finding) => void,
): Promise<void> {
  const file = join(data, 'usage/data.mdb');
  const lmdb = isPresent(file) ? openIfCurrent(data, usageLayout) : undefined;
  if (lmdb === undefined) return;
  const store = usageTablesIn(lmdb);
  try {
    const faults = [
      await finish(
        fromSnapshot(lmdb, (at) => checkCarried(store, at)),
        pace,
      ),
    ];
    for (const table of usageTables)
      faults.push(
        await finish(
          fromSnapshot(lmdb, (at) => checkUsageTable(store, table, environments, at)),
          pace,
        ),
      );
    for (const fault of faults) if (fault !== undefined) tell({ file, isSound: false, words: fault });
    if (faults.every((fault) => fault === undefined))
      tell({ file, isSound: true, words: 'every record is in order, and counts add up' });
    await checkJournals(data, lmdb, usageLayout, pace, tell);
  } finally {
    await lmdb.close();
  }
}

/** Checks the pages and the journal of a spool, but not its records. */
async function checkSpool(data: string, pace: Pace, tell: (finding: Finding) => void): Promise<void> {
  const lmdb = isPresent(join(data, 'spool/data.mdb')) ? openIfCurrent(data, spoolLayout) : undefined;
  if (lmdb === undefined) return;
  try {
    await checkJournals(data, lmdb, spoolLayout, pace, tell);
  } finally {
    await lmdb.close();
  }
}

async function finish<T>(reading: Reading<T>, pace: Pace): Promise<T> {
  for (let done = 0, step = reading.next(); ; done += 1, step = reading.next()) {
    if (step.done) return step.value;
    if (pace.isDue()) await pace.rest({ done, total: 0, unit: 'records' });
  }
}

/**
 * Reads every frame in the journals of a usage store or a spool that the store lacks, as the next start will.
 * @param lmdb the store
 */
export async function checkJournals(
  data: string,
  lmdb: LmdbEnvironment,
  layout: Layout,
  pace: Pace,
  tell: (finding: Finding) => void,
): Promise<void> {
  const id = readJournalId(lmdb);
  const isSpool = layout.store === 'spool';
  const lanes = isSpool ? spoolLanes(data) : journalLanes(data);
  const isUsed = isJournalled(lmdb, layout);
  if (isUsed && lanes.length === 0) {
    const file = isSpool ? join(journalsOf(data), spoolLane) : journalsOf(data);
    const words = 'missing: the packets of the last seconds before the server ended are lost with it';
    tell({ file, isSound: false, words });
  }
  for (const lane of lanes) {
    const place = journalPlace(data, lane, id ?? Buffer.alloc(16));
    const folded = readFolded(lmdb, isSpool || isFoldedWhole(lmdb, lane) ? lane : peopleOf(lane));
    const found = await check(place, isUsed, folded, pace);
    if (found !== undefined) tell({ file: place.directory, ...found });
  }
}

/** @returns `undefined` for a journal that was folded */
async function check(
  place: JournalPlace,
  isUsed: boolean,
  folded: number,
  pace: Pace,
): Promise<Omit<Finding, 'file'> | undefined> {
  let frames = 0;
  let bytes = 0;
  try {
    if (isUsed) checkSegments(place.directory);
    if (isJournalEmpty(place.directory)) return undefined;
    const reader = new JournalReader(openJournal(place), folded);
    try {
      for (const { body } of reader.frames()) {
        frames += 1;
        bytes += body.length;
        if (pace.isDue()) await pace.rest({ done: bytes, total: 0 });
      }
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    return { isSound: false, words: error.message };
  }
  if (frames === 0) return { isSound: true, words: 'in order, and the store has all of it' };
  const amount = `${frames} ${frames === 1 ? 'frame' : 'frames'} (${(bytes / 1024).toFixed(1)} KiB)`;
  return { isSound: true, words: `in order, ${amount} not yet in the store: the next start adds them` };
}

/** The result of checking a file or a journal of a data directory. */
export interface Finding {
  readonly file: string;
  readonly isSound: boolean;
  readonly words: string;
}
