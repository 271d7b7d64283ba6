import { startCommitter } from '../commit/committer.ts';
import { EmbeddedUsage } from '../commit/embedded-usage.ts';
import { EmbeddedEngine } from '../engine/embedded.ts';
import { openDigestSecret } from '../store/instances.ts';
import { openUsageStore } from '../store/usage.ts';
import type { Storage } from './storage.ts';

/** One machine: everything is in the data directory. */
export const embeddedStorage: Storage = {
  openEngine: ({ accounts, clock, config, log }, health) =>
    new EmbeddedEngine(accounts, health, clock, { fromMs: config.slowCommit, log }),
  openUsage({ config, workerFile, randomBytes }, { health, laneOf }) {
    const store = openUsageStore(config.data);
    const committers = Array.from({ length: config.workers }, () =>
      startCommitter(workerFile('commit/worker'), config.data, config.maxIdentities),
    );
    const digestSecret = openDigestSecret(store, randomBytes);
    return new EmbeddedUsage({ store, digestSecret, committers, health, laneOf });
  },
};
