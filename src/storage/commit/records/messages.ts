import type { MessageChange } from '../../lmdb/messages.ts';
import { type Digest, digestBytes } from '../digest.ts';
import type { Envelope } from '../envelope.ts';
import { eachRecord, RecordBuffer } from './record-buffer.ts';

/** How much of each kind is in a batch. What a message brings is what comes between two of these. */
export type Extent = readonly [
  counts: number,
  measurements: number,
  users: number,
  exposures: number,
  unresolved: number,
];

const nothing: Extent = [0, 0, 0, 0, 0];

/**
 * Messages that must not count again (see seen-messages.ts). Times are Unix ms; a forgotten one's is stored as -1 - time. Behind
 * a message that was counted are the two extents of what it brings.
 */
export class MessageRecords extends RecordBuffer {
  add(identity: Digest, at: number, from = nothing, to = nothing): void {
    this.append(at, identity[0], identity[1], identity[2], identity[3]);
    this.append(from[0], from[1], from[2], from[3], from[4]);
    this.append(to[0], to[1], to[2], to[3], to[4]);
  }

  /** Deletes a message that was counted at `at`: its application has others instead. */
  forget(identity: Digest, at: number): void {
    this.append(-1 - at, identity[0], identity[1], identity[2], identity[3]);
  }
}

/** A message of a batch: it brings what comes between two extents. */
export interface BatchMessage extends MessageChange {
  readonly from: Extent;
  readonly to: Extent;
}

/** The messages of a sealed batch, as the store takes them. */
export function messageChanges({ messages, batch }: Envelope): BatchMessage[] {
  const found: { at: number; identity: Uint8Array; forgotten?: true; from: Extent; to: Extent }[] = [];
  let extents = 0;
  eachRecord(messages, batch, (first, a, b, c, d) => {
    if (extents > 0) {
      extents -= 1;
      found.at(-1)![extents === 1 ? 'from' : 'to'] = [first, a, b, c, d];
      return;
    }
    const [identity, from, to] = [digestBytes(a, b, c, d), nothing, nothing];
    if (first < 0) found.push({ at: -1 - first, identity, forgotten: true, from, to });
    else {
      found.push({ at: first, identity, from, to });
      extents = 2;
    }
  });
  return found;
}
