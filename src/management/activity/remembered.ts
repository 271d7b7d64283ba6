import type { Reading } from '../../storage/lmdb/snapshot.ts';

/** Maximum number of cached results. */
const most = 32;

/** Caches the results of readings for a while. The oldest is dropped. */
export class Remembered<T> {
  readonly #freshMs: number;
  readonly #kept = new Map<string, { readonly readAt: number; readonly result: T }>();

  constructor(freshMs: number) {
    this.#freshMs = freshMs;
  }

  /** @param now Unix ms */
  *get(key: string, now: number, read: () => Reading<T>): Reading<T> {
    const known = this.#kept.get(key);
    if (known !== undefined && Math.abs(now - known.readAt) < this.#freshMs) return known.result;
    const result = yield* read();
    this.#kept.delete(key);
    this.#kept.set(key, { readAt: now, result });
    if (this.#kept.size > most) this.#kept.delete([...this.#kept.keys()][0]!);
    return result;
  }
}
