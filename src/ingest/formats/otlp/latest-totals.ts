import type { LedgerNote } from '../../../contract/notes.ts';
import { lastTotal, type Total } from '../../../storage/lmdb/totals.ts';
import type { UsageTables } from '../../../storage/lmdb/usage.ts';

/** Maximum number of totals in each of two maps. The store lacks the totals of the last second, which are not folded yet. */
const maxRecent = 10_000;

type Last = Pick<Total, 'value' | 'at'>;

export class LatestTotals {
  readonly #store: Pick<UsageTables, 'totals'>;
  /** By application and digest. The store has a value only once it is folded. */
  #recent = new Map<string, Last>();
  /** Earlier totals. Forgetting them all together is cheaper than the oldest one each time. */
  #earlier = new Map<string, Last>();

  constructor(store: Pick<UsageTables, 'totals'>) {
    this.#store = store;
  }

  /** Remembers a total. @param hasStart whether its sender states when it began to count @returns the note on it */
  add(total: Total, hasStart: boolean): LedgerNote | undefined {
    const { value, at, fresh } = total;
    const key = `${total.application} ${Buffer.from(total.digest).toString('latin1')}`;
    const last = this.#recent.get(key) ?? this.#earlier.get(key) ?? lastTotal(this.#store, total);
    const isLate = last !== undefined && value < last.value && at <= last.at;
    this.#recent.set(key, isLate ? last : { value, at });
    if (this.#recent.size >= maxRecent) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    if (last === undefined) return fresh === 1 ? undefined : 'first_point';
    // The start is part of the digest, so a process that begins again has another series.
    return hasStart && value < last.value && !isLate ? 'shared_series' : undefined;
  }
}
