import type { Envelope } from './envelope.ts';

/** One kind of content of a batch. All that the sections write between two transactions' ends is kept, or none of it. */
export interface Section {
  /** Adds what the envelope holds of this kind; called inside a transaction. */
  add(envelope: Envelope): void;
  /** Puts what was added and is only in memory yet; called before the transaction ends. */
  put?(): void;
  /** Drops what is in memory: the transaction failed, and the store is the truth. */
  forget?(): void;
}
