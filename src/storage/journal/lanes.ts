import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { journalLanes, journalsOf } from '../lmdb/journal-mark.ts';
import { JournalDamaged } from './errors.ts';
import type { JournalFiles } from './files.ts';
import { segmentNames } from './segment.ts';

/** Whether a directory holds no segment: its journal was folded, or never begun. */
export function isJournalEmpty(directory: string): boolean {
  return !existsSync(directory) || segmentNames(readdirSync(directory)).length === 0;
}

/** Whether no journal of a data directory holds a segment: the store has everything that was accepted. */
export function areJournalsEmpty(data: string): boolean {
  return journalLanes(data).every((lane) => isJournalEmpty(join(journalsOf(data), lane)));
}

/** An empty file beside the spares, which is there while a journal has no segments: else somebody removed them. */
const emptyName = 'empty';

/** Records that a journal has no segments, or is about to have none, before that becomes true. */
export function recordEmpty(files: JournalFiles): void {
  if (files.list().includes(emptyName)) return;
  files.open(emptyName, 'create').close();
  files.syncDirectory();
}

/** Undoes `recordEmpty` once the first segment is on disk. A power loss may bring the file back, which hides nothing but a removal. */
export function recordBegun(files: JournalFiles): void {
  files.remove(emptyName);
}

/**
 * Checks the directory of a journal that may hold what its store lacks.
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
