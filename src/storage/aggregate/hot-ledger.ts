import {
  deleteLedger,
  getLedgerTotal,
  type LedgerLine,
  type LedgerTotal,
  ledgerKey,
  ledgerLifeHours,
  putLedgerRow,
} from '../lmdb/ledger.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import { mergeLedgerTotal } from './merge.ts';

/** Maximum number of rows in memory: about 10 MB. */
const hotRowLimit = 10_000;

interface HotRow {
  readonly key: Buffer;
  readonly subject: string;
  readonly totals: LedgerTotal;
}

/**
 * A cache of the ledger rows in use, so that each row is written once however many lines it gets. Each new row also deletes some
 * of the application's expired rows.
 */
export class HotLedger {
  readonly #store: UsageTables;
  readonly #rows = new Map<string, HotRow>();
  readonly #touched = new Set<HotRow>();

  constructor(store: UsageTables) {
    this.#store = store;
  }

  /** Adds lines to their rows; call it inside the transaction. */
  add(lines: readonly LedgerLine[]): void {
    for (const line of lines) {
      const name = `${line.application} ${line.hour} ${line.subject}`;
      const row = this.#rows.get(name) ?? this.#open(name, line);
      mergeLedgerTotal(row.totals, line);
      this.#touched.add(row);
    }
  }

  /** Writes every changed row. Call it inside the transaction. */
  put(): void {
    for (const { key, subject, totals } of this.#touched) putLedgerRow(this.#store, key, subject, totals);
    this.#touched.clear();
    if (this.#rows.size > hotRowLimit) this.#rows.clear();
  }

  /** Drops everything. After a failed commit, the store is the truth. */
  forget(): void {
    this.#rows.clear();
    this.#touched.clear();
  }

  #open(name: string, line: LedgerLine): HotRow {
    const key = ledgerKey(line);
    const stored = getLedgerTotal(this.#store, key);
    if (stored === undefined) deleteLedger(this.#store, line.application, line.hour - ledgerLifeHours, 2);
    const row = { key, subject: line.subject, totals: stored ?? { count: 0, lastAt: 0, example: null } };
    this.#rows.set(name, row);
    return row;
  }
}
