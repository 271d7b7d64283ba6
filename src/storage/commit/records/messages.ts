import type { MessageChange } from '../../lmdb/messages.ts';
import { type Digest, digestBytes } from '../digest.ts';
import type { Envelope } from '../envelope.ts';
import { eachRecord, RecordBuffer } from './record-buffer.ts';

/** Number of records of each kind in a batch. A message's records lie between two extents. */
export type Extent = readonly [
  counts: number,
  measurements: number,
  users: number,
  exposures: number,
  unresolved: number,
];

const nothing: Extent = [0, 0, 0, 0, 0];

/**
 * Messages that must not count again (see seen-messages.ts). Times are Unix ms; that of a forgotten message is stored as
 * -1 - time. A counted message is followed by the two extents of its records.
 */
export class MessageRecords extends RecordBuffer {
  add(identity: Digest, at: number, from = nothing, to = nothing): void {
    this.append(at, identity[0], identity[1], identity[2], identity[3]);
    this.append(from[0], from[1], from[2], from[3], from[4]);
    this.append(to[0], to[1], to[2], to[3], to[4]);
  }

  /** Deletes a message that was counted at `at`, to make room for others of its application. */
  forget(identity: Digest, at: number): void {
    this.append(-1 - at, identity[0], identity[1], identity[2], identity[3]);
  }
}

/** A message of a batch, with the extents before and after its records. */
export interface BatchMessage extends MessageChange {
  readonly from: Extent;
  readonly to: Extent;
}

/** The messages of a sealed batch, for the store. */
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
