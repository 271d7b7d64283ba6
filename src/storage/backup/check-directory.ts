import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent, readable } from '../../runtime/presence.ts';
import { checkCarried } from '../aggregate/check-carried.ts';
import { type AccountStore, openAccountTables } from '../lmdb/accounts.ts';
import { checkPages } from '../lmdb/check-pages.ts';
import { dataFilesIn } from '../lmdb/data-file.ts';
import { accountsLayout, openIfCurrent, spoolLayout, usageLayout } from '../lmdb/layout.ts';
import { fromSnapshot, type Reading } from '../lmdb/snapshot.ts';
import { openUsageTables } from '../lmdb/usage.ts';
import { checkAccounts } from './check-accounts.ts';
import { checkJournals } from './check-journals.ts';
import { checkUsageTable, usageTables } from './check-usage.ts';
import type { Finding } from './finding.ts';
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
  const accounts = openAccountTables(lmdb);
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

function environmentsOf(accounts: AccountStore): ReadonlySet<number> {
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
  const store = openUsageTables(lmdb);
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
