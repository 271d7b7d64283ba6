import { EmbeddedUsage } from '../commit/embedded-usage.ts';
import { endJournals, startCommitters } from '../commit/start-committers.ts';
import { EmbeddedEngine } from '../engine/embedded.ts';
import { openDigestSecret } from '../store/instances.ts';
import { usageLayout } from '../store/layout.ts';
import type { StoreHealth } from '../store/store-health.ts';
import { openUsageStore } from '../store/usage.ts';
import type { Storage, StorageDeps } from './storage.ts';

/** One machine: everything is in the data directory. */
export function embeddedStorage(): Storage {
  let opening: ReturnType<typeof openAndStart>;
  return {
    openEngine(parts, health) {
      // Its threads start while the accounts are opened.
      opening = openAndStart(parts, health);
      opening.catch(() => {}); // It is awaited in `openUsage`.
      const { accounts, clock, config, log } = parts;
      return new EmbeddedEngine(accounts, health, clock, { fromMs: config.slowCommit, log });
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
  const store = openUsageStore(config.data);
  const committers = await startCommitters(store, {
    ...{ data: config.data, workers: config.workers, maxIdentities: config.maxIdentities },
    ...{ workerFile, randomBytes, log },
    monotonic: () => clock.monotonic(),
    after: (ms, callback) => void setTimeout(callback, ms).unref(),
    failed: (error) => health.failed(error),
  });
  return { store, committers };
}
