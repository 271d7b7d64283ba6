import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { journalLanes, journalsOf } from '../lmdb/journal-mark.ts';
import { JournalDamaged } from './errors.ts';
import type { JournalFiles } from './files.ts';
import { segmentNames } from './segment.ts';

/** Whether a directory has no segments: its journal was folded, or nothing was appended to it. */
export function isJournalEmpty(directory: string): boolean {
  return !existsSync(directory) || segmentNames(readdirSync(directory)).length === 0;
}

/** Whether no journal of a data directory has segments: the store has everything that was accepted. */
export function areJournalsEmpty(data: string): boolean {
  return journalLanes(data).every((lane) => isJournalEmpty(join(journalsOf(data), lane)));
}

/** Name of a file that exists while a journal has no segments. If both are missing, somebody removed the segments. */
const emptyName = 'empty';
const emptyText = Buffer.from('This journal has no segments: the store has everything.\n');

/** Records that a journal has no segments. Call it before the last one goes. */
export function recordEmpty(files: JournalFiles): void {
  if (files.list().includes(emptyName)) return;
  const file = files.open(emptyName, 'create');
  file.write(emptyText, 0); // For people: the name is what counts.
  file.close();
  files.syncDirectory();
}

/** Undoes `recordEmpty` once the first segment is on disk. If a power loss brings the file back, only a removal goes unnoticed. */
export function recordBegun(files: JournalFiles): void {
  files.remove(emptyName);
}

/**
 * Checks the directory of a journal that may hold data missing from its store.
 * @throws {JournalDamaged} if its segments were removed
 */
export function checkSegments(directory: string): void {
  if (!isJournalEmpty(directory) || readdirSync(directory).includes(emptyName)) return;
  throw new JournalDamaged(
    `journal ${directory}`,
    'its segments are missing',
    'Put them back, or restore a backup. To start without the packets that were not yet folded into the store, move the directory away',
  );
}
