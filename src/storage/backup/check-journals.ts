import { join } from 'node:path';
import { isFoldedWhole, journalPlace, openJournal, peopleOf } from '../commit/fold.ts';
import { JournalDamaged } from '../journal/errors.ts';
import { JournalReader } from '../journal/reader.ts';
import { isJournalEmpty } from '../journal/segment.ts';
import { isJournalled, journalLanes, journalsOf, readFolded, readJournalId } from '../lmdb/journal-mark.ts';
import { usageLayout } from '../lmdb/layout.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import type { Finding } from './finding.ts';
import type { Pace } from './pace.ts';

/**
 * Reads every frame of a data directory's journals that its usage store lacks, as the next start will.
 * @param lmdb the usage store
 */
export async function checkJournals(
  data: string,
  lmdb: LmdbEnvironment,
  pace: Pace,
  tell: (finding: Finding) => void,
): Promise<void> {
  const id = readJournalId(lmdb);
  const lanes = journalLanes(data);
  if (isJournalled(lmdb, usageLayout) && lanes.length === 0) {
    const words = 'missing: the packets of the last seconds before the server ended are lost with it';
    tell({ file: journalsOf(data), isSound: false, words });
  }
  for (const lane of lanes) {
    const file = join(journalsOf(data), lane);
    if (!isJournalEmpty(file)) tell({ file, ...(await check(data, lane, lmdb, id, pace)) });
  }
}

async function check(
  data: string,
  lane: string,
  lmdb: LmdbEnvironment,
  id: Uint8Array = Buffer.alloc(16),
  pace: Pace,
): Promise<Omit<Finding, 'file'>> {
  const folded = readFolded(lmdb, isFoldedWhole(lmdb, lane) ? lane : peopleOf(lane));
  let frames = 0;
  let bytes = 0;
  try {
    const reader = new JournalReader(openJournal(journalPlace(data, lane, id)), folded);
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
