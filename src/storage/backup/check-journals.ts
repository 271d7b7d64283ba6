import { join } from 'node:path';
import { isFoldedWhole, type JournalPlace, journalPlace, openJournal, peopleOf } from '../commit/fold.ts';
import { JournalDamaged } from '../journal/errors.ts';
import { checkSegments, isJournalEmpty } from '../journal/lanes.ts';
import { JournalReader } from '../journal/reader.ts';
import {
  isJournalled,
  journalLanes,
  journalsOf,
  readFolded,
  readJournalId,
  spoolLane,
  spoolLanes,
} from '../lmdb/journal-mark.ts';
import type { Layout } from '../lmdb/layout.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import type { Finding } from './finding.ts';
import type { Pace } from './pace.ts';

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
