import type { MessageChange } from '../../store/messages.ts';
import { type Digest, digestBytes } from '../digest.ts';
import type { Envelope } from '../envelope.ts';
import { eachRecord, RecordBuffer } from './record-buffer.ts';

/** Messages that must not count again (see seen-messages.ts). Times are Unix ms; a forgotten one's is stored as -1 - time. */
export class MessageRecords extends RecordBuffer {
  add(identity: Digest, at: number): void {
    this.append(at, identity[0], identity[1], identity[2], identity[3]);
  }

  /** Deletes a message that was counted at `at`: its application has others instead. */
  forget(identity: Digest, at: number): void {
    this.append(-1 - at, identity[0], identity[1], identity[2], identity[3]);
  }
}

/** The messages of a sealed batch, as the store takes them. */
export function messageChanges({ messages, batch }: Envelope): MessageChange[] {
  const changes: MessageChange[] = [];
  eachRecord(messages, batch, (time, a, b, c, d) => {
    const identity = digestBytes(a, b, c, d);
    changes.push(time < 0 ? { at: -1 - time, identity, forgotten: true } : { at: time, identity });
  });
  return changes;
}
