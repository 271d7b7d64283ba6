import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import type { ApplicationKey } from '../store/records.ts';
import { system } from './actors.ts';
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
   * Records a leak, on disk before this returns. Should the store refuse, the leak stays marked, and the next
   * flush writes it.
   */
  leaked(hash: string): void {
    const key = this.#tables.of('applicationKeys').get(hash);
    if (!key || key.leakedAt !== null || this.#leaks.has(hash)) return;
    this.#leaks.set(hash, this.#clock.now());
    try {
      this.flush();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Writes all marks to disk. @throws {ApiError} `store_unavailable`; the marks are kept for the next time then */
  flush(): void {
    this.#tables.change(system, (draft) => {
      for (const hash of new Set([...this.#uses.keys(), ...this.#leaks.keys()])) {
        const key = this.#tables.of('applicationKeys').get(hash);
        if (!key) continue;
        draft.put('applicationKeys', hash, {
          ...key,
          lastUsedAt: this.lastUsedAt(key),
          leakedAt: this.leakedAt(key),
        });
      }
    });
    this.#uses.clear();
    this.#leaks.clear();
  }
}
