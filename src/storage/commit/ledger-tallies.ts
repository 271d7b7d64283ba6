import { mergeTally } from '../aggregate/merge.ts';
import type { LedgerExample, LedgerLine, LedgerTally } from '../lmdb/ledger.ts';

/** A row of the ledger, as the front end names it. */
export type LedgerRow = Omit<LedgerLine, keyof LedgerTally>;

/** Rows that may wait: while the disk is full none of them leaves. */
const maxRows = 20_000;

/** What was counted and is not on disk yet, row by row. */
export class LedgerTallies {
  readonly #limit: number;
  #tallies = new Map<LedgerRow, LedgerTally>();

  /** @param limit most rows; what would make more is not counted */
  constructor(limit = maxRows) {
    this.#limit = limit;
  }

  /** Rows that have something. */
  get size(): number {
    return this.#tallies.size;
  }

  /** Counts one more, at `at` (Unix ms). */
  add(row: LedgerRow, at: number, example: LedgerExample | null = null): void {
    const tally = this.#tallies.get(row);
    if (tally === undefined) {
      this.#open(row, { count: 1, lastAt: at, example });
      return;
    }
    tally.count += 1;
    if (at < tally.lastAt) return;
    tally.lastAt = at;
    if (example !== null) tally.example = example;
  }

  /** Moves everything out, to be committed. */
  take(): LedgerTallies {
    const taken = new LedgerTallies(this.#limit);
    taken.#tallies = this.#tallies;
    this.#tallies = new Map();
    return taken;
  }

  /** Adds all of what was taken: its commit failed. */
  giveBack(taken: LedgerTallies): void {
    for (const [row, from] of taken.#tallies) {
      const tally = this.#tallies.get(row);
      if (tally === undefined) this.#open(row, { ...from });
      else mergeTally(tally, from);
    }
  }

  /** What is here, as it crosses to the worker. */
  lines(): LedgerLine[] {
    return Array.from(this.#tallies, ([row, tally]) => ({ ...row, ...tally }));
  }

  #open(row: LedgerRow, tally: LedgerTally): void {
    if (this.#tallies.size < this.#limit) this.#tallies.set(row, tally);
  }
}
