import { HotLedger } from '../aggregate/hot-ledger.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import type { Section } from './section.ts';

/** Adds the ledger counts of a batch to the ledger. */
export function ledgerSection(store: UsageStore): Section {
  const rows = new HotLedger(store);
  return { add: ({ ledger }) => rows.add(ledger), put: () => rows.put(), forget: () => rows.forget() };
}
