import type { Directory } from '../accounts/directory.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import { EmbeddedAccountStore } from '../accounts/store/embedded.ts';
import type { TimerClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { EmbeddedUsage } from '../storage/commit/embedded-usage.ts';
import type { Lane } from '../storage/commit/lane.ts';
import { endJournals, startCommitters } from '../storage/commit/start-committers.ts';
import type { UsageStore } from '../storage/commit/usage-store.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import { openDigestSecret } from '../storage/lmdb/instances.ts';
import { usageLayout } from '../storage/lmdb/layout.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import { openUsageTables } from '../storage/lmdb/usage.ts';
import type { Config } from './config/config.ts';

/** The storage of accounts and usage. */
export interface Storage {
  openAccounts(deps: StorageDeps, health: StoreHealth): AccountStore | Promise<AccountStore>;
  openUsage(deps: StorageDeps, opened: UsageStorageDeps): UsageStore | Promise<UsageStore>;
  /**
   * Resolves when usage can be served. Call this when the journal lanes exist.
   * @throws {Error} with the reason if usage must not be served; everything is then closed
   */
  ready?(): Promise<void>;
  /** Undoes `openAccounts` if `openUsage` is not called. */
  abandon?(): Promise<void>;
  /** Closes the storage itself. Call this after accounts and usage are closed. */
  close?(): Promise<void>;
}

export interface StorageDeps {
  readonly config: Config;
  /** The accounts, open and prepared. The service closes them. */
  readonly accounts: AccountTables;
  /** Path of a compiled worker, such as `storage/commit/fold-worker`. */
  readonly workerFile: (name: string) => string;
  readonly clock: TimerClock;
  readonly randomBytes: (length: number) => Buffer;
  readonly log: Log;
  /** Number of front-end threads, which also append to the journals. */
  readonly producers?: number;
  /** Ends the process with a failure, because the store can no longer be trusted. */
  readonly fatal: (reason: string) => void;
}

export interface UsageStorageDeps {
  readonly accountStore: AccountStore;
  readonly directory: Directory;
  readonly health: StoreHealth;
  /**
   * Finds the journal lane of an application. Call this only for packets, because no lane exists before usage is open.
   */
  findLane(application: number): Pick<Lane, 'submit'>;
  /** Resolves when all earlier packets of all threads are on disk or refused. */
  settled(): Promise<void>;
}

/** The storage of a single machine, in the data directory. */
export function embeddedStorage(): Storage {
  let opening: ReturnType<typeof openAndStart>;
  return {
    openAccounts(deps, health) {
      // Open usage now, so that its threads start while the accounts are opened.
      opening = openAndStart(deps, health);
      opening.catch(() => {}); // `openUsage` awaits this promise and handles its rejection.
      const { accounts, clock, config, log } = deps;
      return new EmbeddedAccountStore(accounts, health, clock, { fromMs: config.slowCommit, log });
    },
    async abandon() {
      const opened = await opening.catch(() => undefined);
      await Promise.all(opened?.committers.map((committer) => committer.close()) ?? []);
      await opened?.store.lmdb.close();
    },
    async openUsage({ randomBytes, clock }, { health, findLane }) {
      const { store, committers } = await opening;
      const digestSecret = openDigestSecret(store, randomBytes);
      const ended = () => endJournals(store.lmdb, usageLayout, committers);
      return new EmbeddedUsage({ store, digestSecret, clock, committers, health, findLane, ended });
    },
  };
}

async function openAndStart(
  { config, workerFile, randomBytes, clock, log, producers }: StorageDeps,
  health: StoreHealth,
) {
  const store = openUsageTables(config.data);
  const committers = await startCommitters(store, {
    data: config.data,
    workers: config.workers,
    maxIdentities: config.maxIdentities,
    workerFile,
    randomBytes,
    clock,
    log,
    producers,
    failed: (error) => health.failed(error),
  });
  return { store, committers };
}
