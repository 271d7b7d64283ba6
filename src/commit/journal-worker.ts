import { workerData } from 'node:worker_threads';
import { answerCalls, closing } from '../answer-calls.ts';
import { JournalWriter } from '../journal/writer.ts';
import { logThreadConsole } from '../worker-log.ts';
import type { CallChannel } from '../worker-thread.ts';
import type { Envelope } from './envelope.ts';
import { encodeEnvelope } from './envelope-codec.ts';
import { type JournalPlace, openJournal } from './fold.ts';

/** What an append has done. */
export interface Appended {
  /** The number of the frame. */
  readonly sequence: number;
  readonly bytes: number;
  /** The generation of the segment, and how much of it is used, from 0 to 1. */
  readonly segment: number;
  readonly used: number;
}

logThreadConsole();
const { channel, ...place } = workerData as JournalPlace & { readonly channel: CallChannel };
let last = 0;
let writer: JournalWriter | undefined;

answerCalls(channel, {
  /** Sets the last frame of the journal. The segment begins with the first batch, so that no start waits for the disk. */
  begin(sequence: number) {
    last = sequence;
  },
  /** One write and one flush: the batch is on disk when this returns. */
  append(envelope: Envelope): Appended {
    const parts = encodeEnvelope(envelope);
    writer ??= new JournalWriter(openJournal(place), last);
    const sequence = writer.append(parts);
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    return { sequence, bytes, segment: writer.position.generation, used: writer.used };
  },
  [closing]: () => writer?.close(),
});
