import type { Directory } from '../accounts/directory.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import type { TimerClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Lane } from '../storage/commit/lane.ts';
import type { UsageStore } from '../storage/commit/usage-store.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import type { Config } from './config.ts';

/** Where accounts and usage are kept. */
export interface Storage {
  openAccounts(parts: StorageDeps, health: StoreHealth): AccountStore | Promise<AccountStore>;
  /** Opens the usage, and starts the threads that commit it. */
  openUsage(parts: StorageDeps, opened: Opened): UsageStore | Promise<UsageStore>;
  /**
   * Resolves when the usage may be served; the lanes are there by then.
   * @throws {Error} when it may not: it says why; all that was opened is closed then
   */
  ready?(): Promise<void>;
  /** In place of `openUsage`, if what is opened between the two fails: ends what `openAccounts` has started. */
  abandon?(): Promise<void>;
  /** After both are closed. */
  close?(): Promise<void>;
}

/** What either is made of. */
export interface StorageDeps {
  readonly config: Config;
  /** Open and prepared; the service closes it. */
  readonly accounts: AccountTables;
  /** Where a compiled worker is: `storage/commit/worker`, `management/report-worker`, `accounts/password-worker`. */
  readonly workerFile: (name: string) => string;
  readonly clock: TimerClock;
  readonly randomBytes: (length: number) => Buffer;
  readonly log: Log;
  /** The store cannot be trusted any more: the process must end with a failure. */
  readonly fatal: (reason: string) => void;
}

/** What is open before the usage is. */
export interface Opened {
  readonly accountStore: AccountStore;
  readonly directory: Directory;
  readonly health: StoreHealth;
  /** Lanes are made on the committers of the usage: they are there when the first packet comes. */
  laneOf(application: number): Pick<Lane, 'submit' | 'settled'>;
}
