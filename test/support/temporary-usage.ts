import { onTestFinished } from 'vitest';
import { openUsageTables, type UsageTables } from '../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from './temporary.ts';

/** An empty usage store, which is closed and removed after the test. */
export function temporaryUsage(): UsageTables {
  const store = openUsageTables(temporaryDirectory());
  onTestFinished(() => store.lmdb.close());
  return store;
}
