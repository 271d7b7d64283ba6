import { mergeTally } from '../aggregate/merge.ts';
import type { LedgerExample, LedgerLine, LedgerTally } from '../lmdb/ledger.ts';

export type LedgerRow = Omit<LedgerLine, keyof LedgerTally>;

/** Maximum number of waiting rows. None is written while the disk is full. */
const maxRows = 20_000;

/** Counts that are not on disk yet, by row. */
export class LedgerTallies {
  readonly #limit: number;
  #tallies = new Map<LedgerRow, LedgerTally>();

  /** @param limit maximum number of rows; counts for further rows are dropped */
  constructor(limit = maxRows) {
    this.#limit = limit;
  }

  /** Number of rows with counts. */
  get size(): number {
    return this.#tallies.size;
  }

  /** Adds one to a row at `at` (Unix ms). */
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

  /** Removes and returns all rows, to be committed. */
  take(): LedgerTallies {
    const taken = new LedgerTallies(this.#limit);
    taken.#tallies = this.#tallies;
    this.#tallies = new Map();
    return taken;
  }

  giveBack(taken: LedgerTallies): void {
    for (const [row, from] of taken.#tallies) {
      const tally = this.#tallies.get(row);
      if (tally === undefined) this.#open(row, { ...from });
      else mergeTally(tally, from);
    }
  }

  /** The rows as they are sent to the worker. */
  lines(): LedgerLine[] {
    return Array.from(this.#tallies, ([row, tally]) => ({ ...row, ...tally }));
  }

  #open(row: LedgerRow, tally: LedgerTally): void {
    if (this.#tallies.size < this.#limit) this.#tallies.set(row, tally);
  }
}
