import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, postgresAway } from '../../contract/errors.ts';
import { type AccountsFollower, type Confirmed, patienceMs, type Shared } from './accounts-follower.ts';

const pauseMs = 50;

/** Reads PostgreSQL for many requests at once. All that wait share one transaction that begins after they arrived. */
export class SharedRead {
  readonly #shared: Shared;
  readonly #follower: AccountsFollower;
  readonly #repaired: () => Promise<void> | undefined;
  /** The read that has not begun yet. */
  #next: Promise<void> | undefined;
  /** Resolves when the next read may begin, while the copy still follows. */
  #confirmed: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @param repaired resolves once the repair after a loss is done; returns `undefined` if none is open */
  constructor(shared: Shared, follower: AccountsFollower, repaired: () => Promise<void> | undefined) {
    this.#shared = shared;
    this.#follower = follower;
    this.#repaired = repaired;
  }

  /** Resolves when the copy is as current as this call. @throws {ApiError} `engine_unavailable`, `store_unavailable` */
  wait(): Promise<void> {
    if (this.#isClosed || this.#shared.availability.isDown) return Promise.reject(postgresAway());
    return this.#join();
  }

  /** As `wait`, but also while PostgreSQL is known to be away, to notice its return. */
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
      await this.#follower.follow(history); // Even if this machine's clock is wrong: packets are counted by these keys.
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

/** Stops waiting for a read after a while. The read continues. */
function inTime(read: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(postgresAway()), patienceMs);
  });
  return Promise.race([read, late]).finally(() => clearTimeout(timer));
}
