import type { Envelope } from './envelope.ts';

/** One kind of content of a batch. Everything that the sections write in a transaction is kept, or none of it. */
export interface Section {
  /** Adds the envelope's content of this kind. Called inside a transaction. */
  add(envelope: Envelope): void;
  /** Writes additions that are still in memory. Called before the transaction ends. */
  put?(): void;
  /** Drops all state in memory after a failed transaction. The store is the truth. */
  forget?(): void;
}
