import { mergeLedgerTotal } from '../aggregate/merge.ts';
import type { LedgerExample, LedgerLine, LedgerTotal } from '../lmdb/ledger.ts';

export type LedgerRow = Omit<LedgerLine, keyof LedgerTotal>;

/** Maximum number of waiting rows. None is written while the disk is full. */
const maxRows = 20_000;

/** Counts that are not on disk yet, by row. */
export class LedgerTotals {
  readonly #limit: number;
  #totals = new Map<LedgerRow, LedgerTotal>();

  /** @param limit maximum number of rows; counts for further rows are dropped */
  constructor(limit = maxRows) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#totals.size;
  }

  /** Adds one to a row at `at` (Unix ms). */
  add(row: LedgerRow, at: number, example: LedgerExample | null = null): void {
    const totals = this.#totals.get(row);
    if (totals === undefined) {
      this.#open(row, { count: 1, lastAt: at, example });
      return;
    }
    totals.count += 1;
    if (at < totals.lastAt) return;
    totals.lastAt = at;
    if (example !== null) totals.example = example;
  }

  take(): LedgerTotals {
    const taken = new LedgerTotals(this.#limit);
    taken.#totals = this.#totals;
    this.#totals = new Map();
    return taken;
  }

  giveBack(taken: LedgerTotals): void {
    for (const [row, from] of taken.#totals) {
      const totals = this.#totals.get(row);
      if (totals === undefined) this.#open(row, { ...from });
      else mergeLedgerTotal(totals, from);
    }
  }

  lines(): LedgerLine[] {
    return Array.from(this.#totals, ([row, totals]) => ({ ...row, ...totals }));
  }

  #open(row: LedgerRow, totals: LedgerTotal): void {
    if (this.#totals.size < this.#limit) this.#totals.set(row, totals);
  }
}
