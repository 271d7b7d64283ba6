import { join } from 'node:path';
import { journalLanes, journalsOf } from '../lmdb/journal-mark.ts';
import { isJournalEmpty } from './segment.ts';

/** Whether no journal of a data directory holds a segment: the store has everything that was accepted. */
export function areJournalsEmpty(data: string): boolean {
  return journalLanes(data).every((lane) => isJournalEmpty(join(journalsOf(data), lane)));
}
