import { createHotTables } from '../aggregate/hot-tables.ts';
import { type Maintenance, maintain } from '../aggregate/maintain.ts';
import { transact } from '../store/transact.ts';
import type { UsageStore } from '../store/usage.ts';
import type { Envelope } from './envelope.ts';
import { createSections } from './sections.ts';

/** What writes the usage store, on a worker's thread. Each call is one transaction, which is on disk when it returns. */
export interface Aggregator {
  /** Writes a sealed batch, section by section. When it throws, nothing of the batch was kept. */
  write(envelope: Envelope): void;
  /** Does one step of upkeep; gives how much it did, 0 when nothing is left to do. When it throws, nothing was done. */
  maintain(step: Maintenance): number;
}

/**
 * Makes the aggregator of a store. Nothing else may write to the applications that it serves.
 * @param maxIdentities people an environment whose exposures are kept
 */
export function createAggregator(store: UsageStore, maxIdentities = 100_000): Aggregator {
  const hot = createHotTables(store);
  const sections = createSections(store, hot, maxIdentities);
  const writeAll = (envelope: Envelope) => {
    for (const section of sections) section.write(envelope);
  };
  const forget = () => {
    for (const section of sections) section.forget();
  };
  return {
    write: (envelope) => transact(store.lmdb, () => writeAll(envelope), forget),
    maintain: (step) => transact(store.lmdb, () => maintain(store, hot, step), forget),
  };
}
