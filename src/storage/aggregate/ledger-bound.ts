import { surplusName } from '../../contract/names.ts';
import type { LedgerSubject } from '../lmdb/ledger.ts';

/** Senders per application and hour that are shown by name. All others count as `surplusName`. */
export const sendersPerHour = 50;
/** Rows per application and hour. Beyond them, new senders count as `surplusName`. */
const rowsPerHour = 1000;

/** The bound on the ledger rows of one application in one hour, because unauthenticated senders choose their content. */
export class LedgerBound {
  #rows = 0;
  readonly #senders = new Set<string>();

  add(subject: LedgerSubject): void {
    this.#rows += 1;
    if (subject.userAgent !== surplusName) this.#senders.add(senderText(subject));
  }

  /** True if a new row of the sender fits. The row of `surplusName` always fits. */
  admits(subject: LedgerSubject): boolean {
    if (this.#rows >= rowsPerHour) return false;
    return this.#senders.size < sendersPerHour || this.#senders.has(senderText(subject));
  }
}

export function ofOtherSenders(subject: LedgerSubject): LedgerSubject {
  return { ...subject, userAgent: surplusName, instance: null };
}

function senderText({ userAgent, instance }: LedgerSubject): string {
  return JSON.stringify([userAgent, instance]);
}
