import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent } from '../../runtime/files.ts';
import { journalDirectory } from './files.ts';
import type { Journal } from './segment.ts';

/** The directory with the journals of a data directory. The name of a journal is the number of its lane. */
export function getJournalsDirectory(data: string): string {
  return join(data, 'journal');
}

export function journalLanes(data: string): string[] {
  try {
    return readdirSync(getJournalsDirectory(data))
      .filter((name) => /^\d+$/.test(name))
      .sort();
  } catch {
    return [];
  }
}

export const spoolLane = 'spool';

/** The lanes of the spool, in the form of `journalLanes`: one lane if its journal exists, otherwise no lane. */
export function spoolLanes(data: string): string[] {
  return isPresent(join(getJournalsDirectory(data), spoolLane)) ? [spoolLane] : [];
}

/** The location of a journal, passed to the threads that write and read it. */
export interface JournalPlace {
  /** The directory, whose name is the number of the lane. */
  readonly directory: string;
  /** See `Journal`. */
  readonly id: Uint8Array;
  readonly segmentSize: number;
}

/** Bytes of a journal segment. A segment holds seconds of traffic at full speed. */
const segmentSize = 16 * 1024 * 1024;

export function journalPlace(data: string, lane: string, id: Uint8Array): JournalPlace {
  return { directory: join(getJournalsDirectory(data), lane), id, segmentSize };
}

export function openJournal({ directory, id, segmentSize }: JournalPlace): Journal {
  return { files: journalDirectory(directory), id, segmentSize };
}
