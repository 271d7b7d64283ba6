import { setTimeout as pause } from 'node:timers/promises';
import type { Change } from '../../accounts/store/account-store.ts';
import { postgresAway, Refusal } from '../../contract/errors.ts';
import type { Log } from '../../runtime/log.ts';
import type { SlowCommits, StoreHealth } from '../../storage/lmdb/store-health.ts';
import type { Availability } from '../postgres/availability.ts';
import { checkId } from '../postgres/checks.ts';
import type { PostgresSession } from '../postgres/connection.ts';
import { Follower, type LogRead, type Whole } from '../postgres/follower.ts';
import type { PostgresKey } from '../postgres/postgres-key.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import { confirmHistory, readAccounts } from './control-statements.ts';
import type { Copy } from './copy.ts';
import type { RecordCodec, StoredChange } from './record-codec.ts';

/** Maximum time that a request waits for PostgreSQL. */
export const patienceMs = 5000;

export interface PostgresAccountStoreDeps {
  readonly health: Pick<StoreHealth, 'ready' | 'failed'>;
  /** Session for reads, and for writes to the node's row in `fm_node`. It never waits for the lock of a change. */
  readonly reads: PostgresSession;
  readonly changes: PostgresSession;
  /** Session for failed sign-ins. */
  readonly signIns: PostgresSession;
  readonly directory: string;
  readonly key: PostgresKey | undefined;
  /** Clock that learns PostgreSQL's time from each of its responses. */
  readonly clock: SharedClock;
  readonly log: Log;
  readonly slow?: SlowCommits;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Creates the change that repairs the accounts after PostgreSQL lost data, so that no lost record is valid again. */
  readonly repair: () => Promise<Change<void>>;
  /** Saves the copy of the accounts to files. Called when PostgreSQL has lost data, before the copy loses it, too. */
  readonly setAside: () => Promise<void>;
}

/** Services that the parts of the store share. */
export interface AccountStoreServices extends PostgresAccountStoreDeps {
  readonly copy: Copy;
  readonly codec: RecordCodec;
  readonly availability: Availability;
}

/** A read that a commit has confirmed. */
interface ConfirmedRead extends LogRead<StoredChange> {
  /** Number of times that the copy had been replaced when the read began: see `Copy.era`. */
  readonly era: number;
}

/** Applies PostgreSQL's changes of the accounts to the node's copy. A synchronous commit confirms each read. */
export class AccountsFollower extends Follower<StoredChange, ConfirmedRead> {
  readonly #shared: AccountStoreServices;

  constructor(shared: AccountStoreServices) {
    super(shared.copy);
    this.#shared = shared;
  }

  /** Reads the changes after the copy's version, and confirms the read. @throws {Error} for another database */
  async read(): Promise<ConfirmedRead> {
    const { reads, copy, clock, directory } = this.#shared;
    const { applied: from, era, state } = copy;
    const asked = clock.monotonic();
    const { engine, at, ...history } = await confirmHistory(reads, directory, from);
    checkId(state.engine, engine);
    clock.heard(at, asked);
    return { ...history, from, era };
  }

  protected apply(changes: readonly Whole<StoredChange>[], { era }: ConfirmedRead): Promise<void> {
    const { copy, codec } = this.#shared;
    return copy.advance(codec.decodeChanges(changes), era);
  }

  /** Replaces the copy with PostgreSQL's records. Reports missing changes as a loss, unless they were trimmed. */
  protected async load(): Promise<void> {
    const { reads, copy, codec, log, setAside } = this.#shared;
    const { applied } = copy;
    const { head, records, oldest, change } = await readAccounts(reads, applied.position);
    await this.read(); // `read` commits a write, which confirms the records that were read.
    const isTrimmed = oldest === null || oldest > applied.position;
    const isLoss = applied.position > head.position || (!isTrimmed && change !== applied.id);
    const writes = codec.decodeRecords(records);
    if (isLoss) await setAside();
    await copy.replace(writes, head, isLoss);
    const fields = { had: applied.position, has: head.position, records: records.length };
    if (isLoss) log.error('PostgreSQL has lost changes of the accounts: all sessions will be ended', fields);
    else log.info('the accounts were loaded from PostgreSQL', fields);
  }
}

const pauseMs = 50;

/** Reads PostgreSQL once for many requests. Requests share a transaction that begins after their arrival. */
export class SharedRead {
  readonly #shared: AccountStoreServices;
  readonly #follower: AccountsFollower;
  readonly #repaired: () => Promise<void> | undefined;
  /** The next shared read, which has not begun. */
  #next: Promise<void> | undefined;
  /** Resolves when a commit has confirmed the previous read. The changes of that read might not be in the copy yet. */
  #confirmed: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @param repaired resolves once the repair after a loss is done; returns `undefined` if no repair is due */
  constructor(shared: AccountStoreServices, follower: AccountsFollower, repaired: () => Promise<void> | undefined) {
    this.#shared = shared;
    this.#follower = follower;
    this.#repaired = repaired;
  }

  /** Resolves when the copy is current. @throws {Refusal} `postgres_unavailable`, `store_unavailable` */
  wait(): Promise<void> {
    if (this.#isClosed || this.#shared.availability.isDown) return Promise.reject(postgresAway());
    return this.#join();
  }

  /** Waits as `wait` does, but queries PostgreSQL even during an outage, to notice its end. */
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

  async #confirm(): Promise<ConfirmedRead> {
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

  async #follow(history: ConfirmedRead): Promise<void> {
    const { availability, clock } = this.#shared;
    try {
      // The changes are applied even if this machine's clock is wrong, because counting needs their application keys.
      await this.#follower.follow(history);
      clock.check();
      await this.#repaired();
      availability.succeeded();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      availability.failed(error as Error);
      throw postgresAway();
    }
  }
}

/** Stops waiting for a read after `patienceMs`. The read continues. */
function inTime(read: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(postgresAway()), patienceMs);
  });
  return Promise.race([read, late]).finally(() => clearTimeout(timer));
}
