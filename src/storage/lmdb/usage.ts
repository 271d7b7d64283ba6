import { openLaidOut, usageLayout } from './layout.ts';
import { type LmdbEnvironment, openTable, type Table } from './lmdb.ts';

/** The tables of the usage store. The commit workers write it; the main thread only reads. */
export interface UsageTables {
  readonly lmdb: LmdbEnvironment;
  /** Cells of variants: see blocks.ts. */
  readonly counts: Table;
  /** How far the cells of variants are rolled up: see carried.ts. */
  readonly carried: Table;
  /** Cells of metrics: see blocks.ts. */
  readonly measurements: Table;
  /** The series dictionary: see series.ts. */
  readonly series: Table;
  /** When each series was first and last seen: see seen.ts. */
  readonly seen: Table;
  /** Sketches of unique users: see sketches.ts. */
  readonly sketches: Table;
  /** Messages of the last minutes, so that repetitions are not counted: see messages.ts. */
  readonly messages: Table;
  /** People with their instance ids, and the days on which the sweep visits them: see instances.ts. */
  readonly identities: Table;
  readonly identityDays: Table;
  /** The variants that people were given, and the days on which the sweep visits them: see exposures.ts. */
  readonly exposures: Table;
  readonly exposureDays: Table;
  /** Senders that ask for features: see senders.ts. */
  readonly senders: Table;
  /** Outcomes of packets and reports: see ledger.ts. */
  readonly ledger: Table;
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
  return {
    lmdb,
    counts: openTable(lmdb, 'counts'),
    carried: openTable(lmdb, 'carried'),
    measurements: openTable(lmdb, 'measurements'),
    series: openTable(lmdb, 'series'),
    seen: openTable(lmdb, 'seen'),
    sketches: openTable(lmdb, 'sketches'),
    messages: openTable(lmdb, 'messages'),
    identities: openTable(lmdb, 'identities'),
    identityDays: openTable(lmdb, 'identityDays'),
    exposures: openTable(lmdb, 'exposures'),
    exposureDays: openTable(lmdb, 'exposureDays'),
    senders: openTable(lmdb, 'senders'),
    ledger: openTable(lmdb, 'ledger'),
  };
}
