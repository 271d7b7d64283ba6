import type { AccountStore } from '../store/accounts.ts';
import type { Write } from './engine.ts';

/** Puts writes into the store, within a transaction. */
export function applyWrites(store: AccountStore, writes: readonly Write[]): void {
  for (const { table, key, value } of writes) {
    if (value === undefined) store[table].removeSync(key);
    else (store[table] as { putSync(key: string, value: unknown): void }).putSync(key, value);
  }
}
