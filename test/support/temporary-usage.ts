import { onTestFinished } from 'vitest';
import { openUsageTables, type UsageTables } from '../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from './temporary.ts';

/** Opens an empty usage store. It is closed and removed after the test. */
export function temporaryUsage(): UsageTables {
  const store = openUsageTables(temporaryDirectory());
  onTestFinished(() => store.lmdb.close());
  return store;
}
