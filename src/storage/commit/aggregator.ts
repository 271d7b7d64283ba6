import { createHotTables } from '../aggregate/hot-tables.ts';
import { type Maintenance, maintain } from '../aggregate/maintain.ts';
import { transact } from '../lmdb/lmdb.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { Envelope } from './envelope.ts';
import type { FoldHandler } from './fold.ts';
import { createSections, type Section } from './sections.ts';

/**
 * Writes the usage store on a worker's thread. Each call is one transaction, which is on disk when the call returns.
 */
export interface Aggregator extends FoldHandler {
  write(envelope: Envelope): void;
  maintain(step: Maintenance): number;
}

/**
 * Creates the aggregator. No other thread may write data of the same applications.
 * @param maxIdentities maximum number of people kept per environment
 */
export function createAggregator(store: UsageTables, maxIdentities = 100_000): Aggregator {
  const hot = createHotTables(store);
  const groups = createSections(store, hot, maxIdentities);
  const all = [...groups.prompt, ...groups.people];
  const add = (sections: readonly Section[], envelopes: Iterable<Envelope>, finish = () => {}) => {
    for (const envelope of envelopes) for (const section of sections) section.add(envelope);
    for (const section of sections) section.put?.();
    finish();
  };
  const forget = () => {
    for (const section of all) section.forget?.();
  };
  return {
    groups: ['prompt', 'people'],
    write: (envelope) => transact(store.lmdb, () => add(all, [envelope]), forget),
    fold: (group, envelopes, finish) => transact(store.lmdb, () => add(groups[group], envelopes, finish), forget),
    forget,
    maintain: (step) => transact(store.lmdb, () => maintain(store, hot, step), forget),
  };
}
