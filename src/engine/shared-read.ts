import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, engineAway } from '../errors.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import { type Availability, patienceMs } from './availability.ts';
import type { CatchUp, Confirmed } from './catch-up.ts';

/** Requests that share a read. */
interface Batch {
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

export interface SharedReadDeps {
  readonly catchUp: Pick<CatchUp, 'confirm' | 'follow'>;
  readonly availability: Availability;
  readonly clock: Pick<SharedClock, 'monotonic' | 'check'>;
  /** Resolves once what follows from a loss is done; `undefined` when nothing is open. */
  repaired(): Promise<void> | undefined;
}

/** Between two tries. */
const pauseMs = 50;

/**
 * Reads the engine for many requests at once: all that wait share one transaction that begins after they have arrived; those
 * that arrive meanwhile share the next.
 */
export class SharedRead {
  readonly #deps: SharedReadDeps;
  #gathering: Batch | undefined;
  #isReading = false;
  #isClosed = false;

  constructor(deps: SharedReadDeps) {
    this.#deps = deps;
  }

  /** Resolves when the copy is as new as this call. @throws {ApiError} `engine_unavailable`, `store_unavailable` */
  wait(): Promise<void> {
    if (this.#isClosed || this.#deps.availability.isDown) return Promise.reject(engineAway());
    return this.#join();
  }

  /** The same, also while the engine is known to be away: that is how its return is noticed. */
  probe(): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#join();
  }

  close(): void {
    this.#isClosed = true;
  }

  #join(): Promise<void> {
    this.#gathering ??= newBatch();
    const { done } = this.#gathering;
    if (!this.#isReading) void this.#readAll();
    return done;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#gathering !== undefined) {
      const batch = this.#gathering;
      this.#gathering = undefined;
      await this.#read(batch);
    }
    this.#isReading = false;
  }

  /** Resolves when the next read may begin: the copy follows meanwhile. */
  async #read(batch: Batch): Promise<void> {
    const { catchUp, availability, clock } = this.#deps;
    const begun = clock.monotonic();
    const timer = setTimeout(() => batch.reject(engineAway()), patienceMs);
    void batch.done.finally(() => clearTimeout(timer)).catch(() => {});
    for (;;) {
      try {
        void this.#follow(await catchUp.confirm(), batch);
        return;
      } catch (error) {
        availability.failed(error);
        if (this.#isClosed || clock.monotonic() - begun >= patienceMs) return batch.reject(engineAway());
        await pause(pauseMs);
      }
    }
  }

  async #follow(history: Confirmed, batch: Batch): Promise<void> {
    const { catchUp, availability, clock, repaired } = this.#deps;
    try {
      await catchUp.follow(history); // Also when this machine's clock is wrong: packets are counted by these keys.
      clock.check();
      await repaired();
      availability.answered();
      batch.resolve();
    } catch (error) {
      if (!(error instanceof ApiError)) availability.failed(error);
      batch.reject(error instanceof ApiError ? error : engineAway());
    }
  }
}

function newBatch(): Batch {
  let settle: Pick<Batch, 'resolve' | 'reject'> | undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  done.catch(() => {}); // Every caller has it as its own.
  return { done, ...settle! };
}
