import type { UsageStore } from '../store/usage.ts';
import type { Envelope } from './envelope.ts';
import { type Maintenance, maintain } from './maintain.ts';
import { createHotTables, createSections } from './sections.ts';

/**
 * MDB_BAD_TXN: LMDB has given the transaction up before it wrote any of it. Its free list makes it do so now and then when
 * pages were freed (in mdb_freelist_save it reads the size of an entry that it did not find), so the same work is tried again.
 */
const badTransaction = -30782;
const mostAttempts = 20;

/** What an aggregate worker does to the usage store. Each call is one transaction: it is done when it returns. */
export interface Aggregator {
  /** Puts a batch on disk. When it throws, nothing of it was kept. */
  commit(envelope: Envelope): void;
  /** Does one step of upkeep; gives how much it did, 0 when nothing is left to do. When it throws, nothing was done. */
  maintain(step: Maintenance): number;
}

/**
 * Makes the aggregator of a store; nobody else may write to the applications it serves.
 * @param maxIdentities people an environment whose exposures are kept
 */
export function createAggregator(store: UsageStore, maxIdentities = 100_000): Aggregator {
  const hot = createHotTables(store);
  const sections = createSections(store, hot, maxIdentities);

  function transact<T>(action: () => T): T {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return store.environment.transactionSync(action);
      } catch (error) {
        for (const section of sections) section.forget();
        if ((error as { code?: unknown }).code !== badTransaction || attempt === mostAttempts) throw error;
      }
    }
  }

  return {
    commit: (envelope) =>
      transact(() => {
        for (const section of sections) section.write(envelope);
      }),
    maintain: (step) => transact(() => maintain(store, hot, step)),
  };
}
