import { EmbeddedAccountStore } from '../accounts/store/embedded.ts';
import { EmbeddedUsage } from '../storage/commit/embedded-usage.ts';
import { endJournals, startCommitters } from '../storage/commit/start-committers.ts';
import { openDigestSecret } from '../storage/lmdb/instances.ts';
import { usageLayout } from '../storage/lmdb/layout.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import { openUsageTables } from '../storage/lmdb/usage.ts';
import type { Storage, StorageDeps } from './storage.ts';

/** The storage of a single machine, in the data directory. */
export function embeddedStorage(): Storage {
  let opening: ReturnType<typeof openAndStart>;
  return {
    openAccounts(parts, health) {
      // The threads start while accounts are opened.
      opening = openAndStart(parts, health);
      opening.catch(() => {}); // It is awaited in `openUsage`.
      const { accounts, clock, config, log } = parts;
      return new EmbeddedAccountStore(accounts, health, clock, { fromMs: config.slowCommit, log });
    },
    async abandon() {
      const opened = await opening.catch(() => undefined);
      await Promise.all(opened?.committers.map((committer) => committer.close()) ?? []);
      await opened?.store.lmdb.close();
    },
    async openUsage({ randomBytes, clock }, { health, laneOf }) {
      const { store, committers } = await opening;
      const digestSecret = openDigestSecret(store, randomBytes);
      const ended = () => endJournals(store.lmdb, usageLayout, committers);
      return new EmbeddedUsage({ store, digestSecret, clock, committers, health, laneOf, ended });
    },
  };
}

async function openAndStart(
  { config, workerFile, randomBytes, clock, log }: StorageDeps,
  health: StoreHealth,
) {
  const store = openUsageTables(config.data);
  const committers = await startCommitters(store, {
    ...{ data: config.data, workers: config.workers, maxIdentities: config.maxIdentities },
    ...{ workerFile, randomBytes, clock, log },
    failed: (error) => health.failed(error),
  });
  return { store, committers };
}
