import type { JournalFiles } from './files.ts';
import { recordEmpty } from './lanes.ts';
import { type Journal, readSegments, refusalName, refusedFrames, spareName, spareNames } from './segment.ts';

const step = 1 << 20;

/**
 * Keeps one spare segment ready: fills it with zeros, a MiB at a time, and yields in between. Two threads may do so at once, with
 * different files.
 * @param unfinished name of the file that is being filled; the next call removes what a crash has left of it
 * @throws {Error} of the file system, such as ENOSPC. Nothing is left behind, and the next call starts over
 */
export function* prepareSpare(
  { files, segmentSize }: Journal,
  unfinished = 'prepare.tmp',
): Generator<void, void> {
  const names = files.list();
  if (names.includes(unfinished)) files.remove(unfinished);
  const spares = spareNames(names);
  if (spares.some((name) => files.size(name) === segmentSize)) return;
  for (const name of spares) files.remove(name); // Of another size: the setting was changed.
  yield* fillWithZeros(files, unfinished, segmentSize);
  files.rename(unfinished, spareName(0));
}

/** Makes a file of zeros that is on disk. Removes it if that fails or is abandoned. */
export function* fillWithZeros(files: JournalFiles, name: string, size: number): Generator<void, void> {
  const zeros = new Uint8Array(Math.min(step, size));
  const file = files.open(name, 'create');
  let isFilled = false;
  try {
    for (let at = 0; at < size; ) {
      const written = file.write(zeros.subarray(0, size - at), at);
      if (written === 0) throw new Error(`Cannot write ${name} at offset ${at}: no bytes were written`);
      at += written; // Less on a disk that is nearly full; the next write throws the reason.
      file.sync(); // Each step by itself, because flushes of the writer wait for a large one.
      yield;
    }
    isFilled = true;
  } finally {
    file.close();
    if (!isFilled) files.remove(name);
  }
}

/**
 * Turns the segments whose frames are all in the store into spares, and removes those that are not needed. Runs on the thread
 * of the reader. The newest segment stays: the writer may be appending to it. Whether the new names are on disk does not matter
 * until the writer begins one: a power loss brings back segments that are in the store.
 * @param upTo the last frame that the store holds durably
 * @param last the last frame of all, once the writer is closed: then the newest segment is recycled as well
 */
export function recycle(journal: Journal, upTo: number, last = Number.POSITIVE_INFINITY): void {
  const { files, segmentSize } = journal;
  const segments = readSegments(journal);
  if (segments.length > 0 && last <= upTo) recordEmpty(files);
  removeRefusals(files, segments.at(-1)?.generation ?? 0);
  let spares = spareNames(files.list()).length;
  for (const [index, { name, generation, size }] of segments.entries()) {
    const end = (segments[index + 1]?.first ?? last + 1) - 1;
    if (end > upTo) break;
    if (size === segmentSize && spares === 0) {
      files.rename(name, spareName(generation));
      spares++;
    } else {
      files.remove(name);
    }
  }
}

/** Removes refusals of segments that are durably gone, since a later one was begun. */
function removeRefusals(files: JournalFiles, newest: number): void {
  for (const [generation, sequence] of refusedFrames(files.list()))
    if (generation < newest) files.remove(refusalName(generation, sequence));
}
