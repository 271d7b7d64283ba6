import type { Directory } from '../accounts/directory.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import type { TimerClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Lane } from '../storage/commit/lane.ts';
import type { UsageStore } from '../storage/commit/usage-store.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import type { Config } from './config.ts';

/** The storage of accounts and usage: the data directory, or PostgreSQL. */
export interface Storage {
  openAccounts(parts: StorageDeps, health: StoreHealth): AccountStore | Promise<AccountStore>;
  /** Opens usage, and starts the threads that commit it. */
  openUsage(parts: StorageDeps, opened: Opened): UsageStore | Promise<UsageStore>;
  /**
   * Resolves when usage may be served. It is called when the lanes exist.
   * @throws {Error} with the reason when it may not; everything is closed then
   */
  ready?(): Promise<void>;
  /** Undoes `openAccounts` if `openUsage` is not reached. */
  abandon?(): Promise<void>;
  /** After both are closed. */
  close?(): Promise<void>;
}

export interface StorageDeps {
  readonly config: Config;
  /** Open and prepared; the service closes it. */
  readonly accounts: AccountTables;
  /** Path of a compiled worker, such as `storage/commit/worker`. */
  readonly workerFile: (name: string) => string;
  readonly clock: TimerClock;
  readonly randomBytes: (length: number) => Buffer;
  readonly log: Log;
  /** Ends the process with a failure, because the store can no longer be trusted. */
  readonly fatal: (reason: string) => void;
}

/** The parts that are open before usage is. */
export interface Opened {
  readonly accountStore: AccountStore;
  readonly directory: Directory;
  readonly health: StoreHealth;
  /** Call it only once packets arrive: lanes need the committers of usage. */
  laneOf(application: number): Pick<Lane, 'submit' | 'settled'>;
}
