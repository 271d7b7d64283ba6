import type { RefusalCode } from '../contract/refusals.ts';
import { increase } from '../runtime/counts.ts';
import type { ApplicationKey, KeyRefusals } from '../storage/lmdb/records.ts';

interface Tally {
  count: number;
  lastAt: number;
  readonly reasons: Map<RefusalCode, number>;
}

export type RefusalTallies = ReadonlyMap<string, Tally>;

/** The refused messages of known keys that are not on disk yet. */
export class UnwrittenRefusals {
  #tallies = new Map<string, Tally>();
  readonly #taken = new Set<RefusalTallies>();

  add(hash: string, code: RefusalCode, at: number): void {
    let tally = this.#tallies.get(hash);
    if (tally === undefined) {
      tally = { count: 0, lastAt: at, reasons: new Map() };
      this.#tallies.set(hash, tally);
    }
    tally.count += 1;
    tally.lastAt = at;
    increase(tally.reasons, code);
  }

  of({ hash, refused }: ApplicationKey): KeyRefusals | undefined {
    return [...this.#taken, this.#tallies].reduce((sum, each) => plus(sum, each.get(hash)), refused);
  }

  /** Takes what was added since the last call, to write it. Call `written` or `giveBack` then. */
  take(): RefusalTallies {
    const taken = this.#tallies;
    this.#tallies = new Map();
    this.#taken.add(taken);
    return taken;
  }

  written(taken: RefusalTallies): void {
    this.#taken.delete(taken);
  }

  giveBack(taken: RefusalTallies): void {
    this.#taken.delete(taken);
    this.addAll(taken);
  }

  addAll(tallies: RefusalTallies): void {
    for (const [hash, added] of tallies) {
      const own = this.#tallies.get(hash);
      for (const [code, count] of own?.reasons ?? []) {
        increase(added.reasons, code, count);
      }
      added.count += own?.count ?? 0;
      added.lastAt = Math.max(added.lastAt, own?.lastAt ?? 0);
      this.#tallies.set(hash, added);
    }
  }
}

/** The sum of stored refusals and those of a tally. */
export function plus(stored: KeyRefusals | undefined, tally: Tally | undefined): KeyRefusals | undefined {
  if (tally === undefined) return stored;
  const reasons: Record<string, number> = { ...stored?.reasons };
  for (const [code, count] of tally.reasons) reasons[code] = (reasons[code] ?? 0) + count;
  return {
    count: (stored?.count ?? 0) + tally.count,
    lastAt: Math.max(stored?.lastAt ?? 0, tally.lastAt),
    reasons,
  };
}
