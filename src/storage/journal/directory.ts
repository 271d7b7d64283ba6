import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { JournalDamageError } from './errors.ts';
import type { JournalFiles } from './files.ts';
import { getJournalsDirectory, journalLanes } from './place.ts';
import {
  type Journal,
  readSegments,
  refusalName,
  refusedFrames,
  segmentNames,
  spareName,
  spareNames,
} from './segment.ts';

/** True if a directory has no segments: its journal was folded, or no frame was ever appended. */
export function isJournalEmpty(directory: string): boolean {
  return !existsSync(directory) || segmentNames(readdirSync(directory)).length === 0;
}

/** True if no journal of a data directory has segments. The store then has all accepted data. */
export function areJournalsEmpty(data: string): boolean {
  return journalLanes(data).every((lane) => isJournalEmpty(join(getJournalsDirectory(data), lane)));
}

/**
 * Name of a file that exists while a journal has no segments. If a journal has neither segments nor this file, its
 * segments were removed.
 */
const emptyName = 'empty';
const emptyText = Buffer.from('This journal has no segments: the store has everything.\n');

/** Records that a journal has no segments. Call this before the last segment is removed. */
export function recordEmpty(files: JournalFiles): void {
  if (files.list().includes(emptyName)) return;
  const file = files.open(emptyName, 'create');
  file.write(emptyText, 0); // The content is for people. Only the name of the file has a meaning.
  file.close();
  files.syncDirectory();
}

/**
 * Undoes `recordEmpty` once the first segment is on disk. If a power loss restores the file, the only effect is that
 * `checkSegments` does not notice a later removal of segments.
 */
export function recordBegun(files: JournalFiles): void {
  files.remove(emptyName);
}

/**
 * Checks the directory of a journal whose frames can be missing from the store.
 * @throws {JournalDamageError} if its segments were removed
 */
export function checkSegments(directory: string): void {
  if (!isJournalEmpty(directory) || readdirSync(directory).includes(emptyName)) return;
  throw new JournalDamageError(
    `journal ${directory}`,
    'its segments are missing',
    'Put the segments back, or restore a backup. To start without the packets that were not yet folded into the store, move the directory away',
  );
}

const step = 1 << 20;

/** Maximum number of spare segments. Further folded segments are removed. */
const maxSpares = 3;

/**
 * Prepares a spare segment unless a spare is ready. Fills a file with zeros, one MiB at a time, and yields after each
 * MiB. Two threads can prepare spares at the same time, with different files.
 * @param unfinished temporary name. If a crash leaves a file under this name, the next call removes it
 * @throws {Error} of the file system, such as ENOSPC
 */
export function* prepareSpare({ files, segmentSize }: Journal, unfinished = 'prepare.tmp'): Generator<void, void> {
  const names = files.list();
  if (names.includes(unfinished)) files.remove(unfinished);
  const spares = spareNames(names);
  if (spares.some((name) => files.size(name) === segmentSize)) return;
  for (const name of spares) files.remove(name); // The spares have the size of an earlier setting.
  yield* fillWithZeros(files, unfinished, segmentSize);
  files.rename(unfinished, spareName(0));
}

/** Writes and flushes a file of zeros. Removes the file after a failure, or when the generator is closed early. */
export function* fillWithZeros(files: JournalFiles, name: string, size: number): Generator<void, void> {
  const zeros = new Uint8Array(Math.min(step, size));
  const file = files.open(name, 'create');
  let isFilled = false;
  try {
    for (let at = 0; at < size; ) {
      const written = file.write(zeros.subarray(0, size - at), at);
      if (written === 0) throw new Error(`Cannot write ${name} at offset ${at}: no bytes were written`);
      at += written; // A nearly full disk takes fewer bytes. The next write then throws the reason.
      file.sync(); // Frequent syncs are short. The journal writer would wait for a long sync.
      yield;
    }
    isFilled = true;
  } finally {
    file.close();
    if (!isFilled) files.remove(name);
  }
}

/**
 * Turns folded segments into spares, up to `maxSpares`, and removes the other folded segments. Runs on the thread of
 * the reader. The newest segment stays, because the writer can be appending to it. The changed names are not synced: a
 * power loss can restore a segment, but its data is already in the store.
 * @param upTo the last frame that the store holds durably
 * @param last the last frame of the journal, if the writer is closed. The newest segment is then recycled as well
 */
export function recycle(journal: Journal, upTo: number, last = Number.POSITIVE_INFINITY): void {
  const { files, segmentSize } = journal;
  const segments = readSegments(journal);
  if (segments.length > 0 && last <= upTo) recordEmpty(files);
  const names = files.list();
  removeRefusals(files, names, segments.at(-1)?.generation ?? 0);
  let spares = spareNames(names).length;
  for (const [index, { name, generation, size }] of segments.entries()) {
    const end = (segments[index + 1]?.first ?? last + 1) - 1;
    if (end > upTo) break;
    if (size === segmentSize && spares < maxSpares) {
      files.rename(name, spareName(generation));
      spares++;
    } else {
      files.remove(name);
    }
  }
}

/** Removes refusal files of earlier segments. An earlier segment ends where the next begins, so it needs no file. */
function removeRefusals(files: JournalFiles, names: readonly string[], newest: number): void {
  for (const [generation, sequence] of refusedFrames(names))
    if (generation < newest) files.remove(refusalName(generation, sequence));
}
