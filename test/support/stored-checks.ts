import { usageReport } from '../../src/reports/usage/usage-report.ts';
import { foldJournals } from '../../src/storage/commit/fold-journals.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { decodeExposures } from '../../src/storage/lmdb/exposures.ts';
import { allSeries } from '../../src/storage/lmdb/series.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import type { CountedChecks } from './exact-load.ts';
import { finish } from './finish.ts';

const dayMinutes = 1440;

/**
 * Folds the journals of a directory that no process uses, and reads the checks by feature. The directory has one
 * environment with data. Starting the executable would cost twenty times as much.
 * @throws {Error} if a store or a journal cannot be read
 */
export async function readStoredChecks(data: string): Promise<CountedChecks> {
  await openAccountTables(data).lmdb.close();
  await foldJournals(data, 1000);
  const store = openUsageTables(data);
  try {
    const series = [...allSeries(store)];
    const features = new Map(series.map(({ ordinal, name }) => [ordinal, name[0]!]));
    const number = series[0]?.environment ?? 1;
    const today = Math.floor(Date.now() / 60_000 / dayMinutes) * dayMinutes;
    const range = { from: today - dayMinutes, to: today + 2 * dayMinutes, step: 'hour' } as const;
    const report = finish(usageReport(store, { name: 'Production', number }, range, undefined));
    const exposures = new Map<string, number>();
    for (const { key, value } of store.exposures.getRange({})) {
      if (key.length === 4) continue; // The number of people in the environment.
      for (const [ordinal, { checks }] of decodeExposures(value)) exposures.set(features.get(ordinal)!, checks);
    }
    return { checks: new Map(report.features.map(({ feature, checks }) => [feature, checks])), exposures };
  } finally {
    await store.lmdb.close();
  }
}
