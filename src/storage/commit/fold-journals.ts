import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent } from '../../runtime/files.ts';
import { areJournalsEmpty, checkSegments } from '../journal/directory.ts';
import { getJournalsDirectory, journalLanes, journalPlace } from '../journal/place.ts';
import { checkStores, isJournalled, openIfCurrent, readJournalId, setJournalUse, usageLayout } from '../lmdb/layout.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import { usageTablesIn } from '../lmdb/usage.ts';
import { createAggregator } from './aggregator.ts';
import { Fold } from './fold.ts';

/**
 * Folds the journals of a killed server into the usage store, so that the store is complete without the journals. No
 * other process may use the directory.
 * @param maxIdentities maximum number of people per environment whose exposures are kept
 * @returns descriptions of incomplete frames, which were not counted: see `JournalReader.incomplete`
 * @throws {Error} as `checkStores` does. The directory is then unchanged
 * @throws {JournalDamageError} if a journal cannot be read. The store then has all frames before the damage
 */
export async function foldJournals(data: string, maxIdentities: number): Promise<readonly string[]> {
  checkStores(data);
  const lmdb = openIfCurrent(data, usageLayout);
  if (lmdb === undefined) return [];
  try {
    if (!isJournalled(lmdb, usageLayout)) return [];
    if (journalLanes(data).length === 0) throw missing(data);
    for (const lane of journalLanes(data)) checkSegments(join(getJournalsDirectory(data), lane));
    const incomplete = areJournalsEmpty(data) ? [] : foldAll(data, lmdb, maxIdentities);
    setJournalUse(lmdb, usageLayout, false);
    return incomplete;
  } finally {
    await lmdb.close();
  }
}

/** Removes journals that have only spare segments. Does not remove the journal of a spool. */
export function removeJournals(data: string): void {
  if (!areJournalsEmpty(data)) return;
  for (const lane of journalLanes(data)) rmSync(join(getJournalsDirectory(data), lane), { recursive: true });
  const rest = getJournalsDirectory(data);
  if (isPresent(rest) && readdirSync(rest).length === 0) rmdirSync(rest);
}

function foldAll(data: string, lmdb: LmdbEnvironment, maxIdentities: number): string[] {
  const incomplete: string[] = [];
  const id = readJournalId(lmdb);
  if (id === undefined) throw missing(data);
  const aggregator = createAggregator(usageTablesIn(lmdb), maxIdentities);
  for (const lane of journalLanes(data)) {
    const fold = new Fold(lmdb, journalPlace(data, lane, id), aggregator);
    try {
      fold.finish();
      if (fold.incomplete !== undefined) incomplete.push(fold.incomplete);
    } finally {
      fold.close();
    }
    aggregator.forget(); // The next lane can have other applications, or newer data of these applications.
  }
  return incomplete;
}

function missing(data: string): Error {
  return new Error(
    `Cannot read the journal of ${data}: ${getJournalsDirectory(data)} is missing. Put the directory back. To continue without the packets of the last seconds before the server ended, start flagmeter serve`,
  );
}
