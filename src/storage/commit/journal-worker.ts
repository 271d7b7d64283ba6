import { answerCalls, threadStart } from '../../runtime/answer-calls.ts';
import { JournalFull } from '../journal/errors.ts';
import { prepareSpare } from '../journal/spares.ts';
import { JournalWriter } from '../journal/writer.ts';
import { type JournalPlace, openJournal } from './fold.ts';
import { FrameMemory } from './frame-memory.ts';

export interface JournalStart extends JournalPlace {
  readonly memory: SharedArrayBuffer;
}

const { channel, memory, ...place } = threadStart<JournalStart>();
const frames = new FrameMemory(memory);
let last = 0;
let writer: JournalWriter | undefined;

/** Appends with one write and one flush. The frame is on disk when this returns. */
function append(): void {
  writer ??= new JournalWriter(openJournal(place), last);
  const sequence = appendTo(writer);
  frames.setAppended({ sequence, segment: writer.position.generation, used: writer.used });
}

/**
 * The folding thread prepares spares ahead. If none is ready because a fold takes long, this thread fills one itself. The batch
 * waits for one segment of zeros, never for a fold.
 */
function appendTo(writer: JournalWriter): number {
  try {
    return writer.append([frames.frame]);
  } catch (error) {
    if (!(error instanceof JournalFull)) throw error;
    for (const _ of prepareSpare(openJournal(place), 'urgent.tmp'));
    return writer.append([frames.frame]);
  }
}

const actions = {
  /** Sets the last frame of the journal. The segment is created with the first batch, so a start does not wait for the disk. */
  begin(sequence: number) {
    last = sequence;
  },
  close: () => writer?.close(),
};
export type JournalActions = typeof actions;

answerCalls(channel, actions, append);
