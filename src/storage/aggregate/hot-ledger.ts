import {
  deleteLedger,
  getLedgerTally,
  type LedgerLine,
  type LedgerTally,
  ledgerKey,
  ledgerLifeHours,
  putLedgerRow,
} from '../lmdb/ledger.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { mergeTally } from './merge.ts';

/** Rows kept in memory: about 10 MB. */
const hotRowLimit = 10_000;

interface HotRow {
  readonly key: Buffer;
  readonly subject: string;
  readonly tally: LedgerTally;
}

/**
 * The rows of the ledger that are being written to, kept in memory, so that a row is put once however many lines it
 * gets. With every new row, some of the application's expired rows are deleted.
 */
export class HotLedger {
  readonly #store: UsageStore;
  readonly #rows = new Map<string, HotRow>();
  readonly #touched = new Set<HotRow>();

  constructor(store: UsageStore) {
    this.#store = store;
  }

  /** Adds lines to their rows; call it inside the transaction. */
  add(lines: readonly LedgerLine[]): void {
    for (const line of lines) {
      const name = `${line.application} ${line.hour} ${line.subject}`;
      const row = this.#rows.get(name) ?? this.#open(name, line);
      mergeTally(row.tally, line);
      this.#touched.add(row);
    }
  }

  /** Puts every row that has changed; call it inside the transaction. */
  put(): void {
    for (const { key, subject, tally } of this.#touched) putLedgerRow(this.#store, key, subject, tally);
    this.#touched.clear();
    if (this.#rows.size > hotRowLimit) this.#rows.clear();
  }

  /** Drops everything: after a commit that failed, the store is the truth. */
  forget(): void {
    this.#rows.clear();
    this.#touched.clear();
  }

  #open(name: string, line: LedgerLine): HotRow {
    const key = ledgerKey(line);
    const stored = getLedgerTally(this.#store, key);
    if (stored === undefined) deleteLedger(this.#store, line.application, line.hour - ledgerLifeHours, 2);
    const row = { key, subject: line.subject, tally: stored ?? { count: 0, lastAt: 0, example: null } };
    this.#rows.set(name, row);
    return row;
  }
}
