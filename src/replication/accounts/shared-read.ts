import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, postgresAway } from '../../contract/errors.ts';
import { type AccountsFollower, type Confirmed, patienceMs, type Shared } from './accounts-follower.ts';

/** Between two tries. */
const pauseMs = 50;

/**
 * Reads the engine for many requests at once: all that wait share one transaction that begins after they have arrived; those
 * that arrive meanwhile share the next.
 */
export class SharedRead {
  readonly #shared: Shared;
  readonly #follower: AccountsFollower;
  readonly #repaired: () => Promise<void> | undefined;
  /** The read that has not begun. */
  #next: Promise<void> | undefined;
  /** Resolves when the next read may begin: the copy follows meanwhile. */
  #confirmed: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @param repaired resolves once what follows from a loss is done; returns undefined when nothing is open */
  constructor(shared: Shared, follower: AccountsFollower, repaired: () => Promise<void> | undefined) {
    this.#shared = shared;
    this.#follower = follower;
    this.#repaired = repaired;
  }

  /** Resolves when the copy is as new as this call. @throws {ApiError} `engine_unavailable`, `store_unavailable` */
  wait(): Promise<void> {
    if (this.#isClosed || this.#shared.availability.isDown) return Promise.reject(postgresAway());
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
    this.#next ??= this.#confirmed.then(() => inTime(this.#read()));
    return this.#next;
  }

  #read(): Promise<void> {
    this.#next = undefined;
    const history = this.#confirm();
    this.#confirmed = history.catch(() => {});
    return history.then((found) => this.#follow(found));
  }

  async #confirm(): Promise<Confirmed> {
    const { availability, clock } = this.#shared;
    const begun = clock.monotonic();
    for (;;) {
      try {
        return await this.#follower.read();
      } catch (error) {
        availability.failed(error as Error);
        if (this.#isClosed || clock.monotonic() - begun >= patienceMs) throw postgresAway();
        await pause(pauseMs);
      }
    }
  }

  async #follow(history: Confirmed): Promise<void> {
    const { availability, clock } = this.#shared;
    try {
      await this.#follower.follow(history); // Also when this machine's clock is wrong: packets are counted by these keys.
      clock.check();
      await this.#repaired();
      availability.answered();
    } catch (error) {
      if (error instanceof ApiError) throw error;
      availability.failed(error as Error);
      throw postgresAway();
    }
  }
}

/** Gives up on a read after a while; it goes on. */
function inTime(read: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(postgresAway()), patienceMs);
  });
  return Promise.race([read, late]).finally(() => clearTimeout(timer));
}
