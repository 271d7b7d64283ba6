import { prepareSpare, recycle } from '../../../src/storage/journal/directory.ts';
import { JournalReader } from '../../../src/storage/journal/reader.ts';
import type { Journal } from '../../../src/storage/journal/segment.ts';
import { JournalWriter } from '../../../src/storage/journal/writer.ts';
import { LossyDisk } from './lossy-disk.ts';

/** A disk with a journal, and the writer of the process that began the journal. */
export interface FramesOnDisk {
  readonly disk: LossyDisk;
  readonly journal: Journal;
  readonly writer: JournalWriter;
}

/** Size of a segment, bytes. It has space for two frames. */
export const segmentSize = 12_288;
export const sizeOfFrame = 3_024;

/** The body of a frame. The bodies of two frames differ in more than a few bytes. */
export function createBody(sequence: number): string {
  return `${sequence}:`.padEnd(sizeOfFrame - 16, String.fromCharCode(97 + (sequence % 26)));
}

/** @param random the random numbers of the disk when it fails or loses power */
export function makeJournal(random = () => 0, size = segmentSize): FramesOnDisk {
  const disk = new LossyDisk(random);
  const journal = { files: disk, id: Buffer.alloc(16, 1), segmentSize: size };
  return { disk, journal, writer: new JournalWriter(journal, 0) };
}

/** Appends frames, with a spare ready for each frame. */
export function appendFrames(journal: Journal, writer: JournalWriter, from: number, to: number): void {
  for (let sequence = from; sequence <= to; sequence++) {
    for (const _ of prepareSpare(journal));
    writer.append([Buffer.from(createBody(sequence))]);
  }
}

/** Segments with two frames each: 1 and 2, 3 and 4, … */
export function writeFrames(last: number): FramesOnDisk {
  const made = makeJournal();
  appendFrames(made.journal, made.writer, 1, last);
  return made;
}

/** One segment with the frames from 5 on, followed by complete frames of an older generation at valid offsets. */
export function writeRecycled(last: number): FramesOnDisk {
  const { disk, journal, writer: older } = makeJournal(undefined, 24_576);
  for (let sequence = 1; sequence <= 4; sequence++) older.append([Buffer.alloc(4_000, sequence)]);
  recycle(journal, 4, 4);
  const writer = new JournalWriter(journal, 4);
  appendFrames(journal, writer, 5, last);
  return { disk, journal, writer };
}

/** The numbers of the frames that a replay returns. Each frame must have its body, or the beginning of its body. */
export function replay(journal: Journal, after = 0): number[] {
  return [...new JournalReader(journal, after).frames()].map(({ sequence, body }) => {
    if (!createBody(sequence).startsWith(Buffer.from(body).toString())) throw new Error(`Frame ${sequence} differs`);
    return sequence;
  });
}
