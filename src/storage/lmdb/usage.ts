import { openLaidOut, usageLayout } from './layout.ts';
import { type LmdbEnvironment, openTables, type Table } from './lmdb.ts';

/** The tables of the usage store, each with a file of the same name or the file that is named here. */
export const usageTables = [
  'counts', // Cells of variants: see blocks.ts.
  'carried',
  'measurements', // Cells of metrics: see blocks.ts.
  'series',
  'seen',
  'sketches',
  'messages',
  'cumulative', // See cumulative.ts.
  'identities', // See instances.ts.
  'identityDays',
  'exposures',
  'exposureDays',
  'senders',
  'ledger',
  'totals',
] as const;

export type UsageTable = (typeof usageTables)[number];

/** The usage store. The commit workers write it; the main thread only reads. */
export interface UsageTables extends Readonly<Record<UsageTable, Table>> {
  readonly lmdb: LmdbEnvironment;
}

/**
 * Opens the usage store of a data directory. Each thread opens it separately, the main thread first.
 * @throws {Error} as `openLaidOut`
 */
export function openUsageTables(data: string): UsageTables {
  return usageTablesIn(openLaidOut(data, usageLayout));
}

/** Opens the tables of usage in an LMDB environment, and creates missing ones. */
export function usageTablesIn(lmdb: LmdbEnvironment): UsageTables {
  return { lmdb, ...openTables(lmdb, usageTables) };
}
