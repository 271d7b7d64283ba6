import type { Envelope } from './envelope.ts';

/** One kind of thing that a batch brings to the store. What all sections write is one transaction. */
export interface Section {
  /** Puts what the envelope holds of this kind; called inside the transaction. */
  write(envelope: Envelope): void;
  /** Drops what is in memory: the transaction failed, and the store is the truth. */
  forget(): void;
}
