import { slotMs, sweepSenders } from '../lmdb/senders.ts';
import type { UsageStore } from '../lmdb/usage.ts';

/** Progress of the sweep in an environment. `from` is the next ordinal, `undefined` once the day's sweep is complete. */
interface Visit {
  readonly day: number;
  readonly from: number | undefined;
}

const dayMs = 86_400_000;

/** Forgets senders that were not seen for long. Sweeps all senders of an environment once a day. */
export class SenderSweep {
  readonly #store: UsageStore;
  readonly #visits = new Map<number, Visit>();

  constructor(store: UsageStore) {
    this.#store = store;
  }

  /** Continues in an environment; call it in a transaction. @param now Unix ms @returns records visited, 0 if none is left */
  step(environment: number, now: number, limit: number): number {
    const day = Math.floor(now / dayMs);
    const visit = this.#visits.get(environment);
    const from = visit?.day === day ? visit.from : 0;
    if (from === undefined) return 0;
    const next = sweepSenders(this.#store, environment, from, Math.floor(now / slotMs), limit);
    this.#visits.set(environment, { day, from: next });
    return next === undefined ? 0 : limit;
  }
}
