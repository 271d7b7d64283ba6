import type { Clock } from '../clock.ts';
import type { ApplicationKey } from '../store/records.ts';
import type { Tables } from './tables.ts';

/** When keys were used, and which Backend keys were seen where they must not be. In memory until flushed. */
export class KeyMarks {
  readonly #tables: Tables;
  readonly #clock: Clock;
  /** By hash, as the leaks are. Holds no more entries than there are keys: only found keys are marked. */
  readonly #uses = new Map<string, number>();
  readonly #leaks = new Map<string, number>();

  constructor(tables: Tables, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  used(hash: string): void {
    this.#uses.set(hash, this.#clock.now());
  }

  lastUsedAt(key: ApplicationKey): number | null {
    return this.#uses.get(key.hash) ?? key.lastUsedAt;
  }

  leakedAt(key: ApplicationKey): number | null {
    return key.leakedAt ?? this.#leaks.get(key.hash) ?? null;
  }

  /**
   * Records a leak, on disk as soon as can be. The caller is not kept waiting: should the store refuse, the
   * leak stays marked, and the next flush writes it and reports the failure.
   */
  leaked(hash: string): void {
    const key = this.#tables.of('applicationKeys').get(hash);
    if (!key || key.leakedAt !== null || this.#leaks.has(hash)) return;
    this.#leaks.set(hash, this.#clock.now());
    this.flush().catch(() => undefined);
  }

  /** Writes all marks to disk. @throws what the store rejects with; the marks are kept for the next time then. */
  async flush(): Promise<void> {
    const uses = new Map<string, number>();
    const leaks = new Map<string, number>();
    await this.#tables.change((draft) => {
      copyInto(uses, this.#uses);
      copyInto(leaks, this.#leaks);
      for (const hash of new Set([...uses.keys(), ...leaks.keys()])) {
        const key = this.#tables.of('applicationKeys').get(hash);
        if (!key) continue;
        const lastUsedAt = uses.get(hash) ?? key.lastUsedAt;
        const leakedAt = key.leakedAt ?? leaks.get(hash) ?? null;
        draft.put('applicationKeys', hash, { ...key, lastUsedAt, leakedAt });
      }
    });
    forget(this.#uses, uses);
    forget(this.#leaks, leaks);
  }
}

function copyInto(to: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [hash, at] of from) to.set(hash, at);
}

/** Drops what was written, but not what was marked anew in the meantime. */
function forget(marks: Map<string, number>, written: ReadonlyMap<string, number>): void {
  for (const [hash, at] of written) if (marks.get(hash) === at) marks.delete(hash);
}
