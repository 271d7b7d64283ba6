import { openLaidOut, usageLayout } from './layout.ts';
import { type LmdbEnvironment, openTable, type Table } from './lmdb.ts';

/** The tables of the usage store. The aggregate workers write it; the service's own thread only reads. */
export interface UsageStore {
  readonly lmdb: LmdbEnvironment;
  /** Cells of variants: see blocks.ts. */
  readonly counts: Table;
  /** Cells of metrics: see blocks.ts. */
  readonly measurements: Table;
  /** The series dictionary: see series.ts. */
  readonly series: Table;
  /** When series were seen: see seen.ts. */
  readonly seen: Table;
  /** Sketches of unique users: see sketches.ts. */
  readonly sketches: Table;
  /** Messages of the last minutes, so that none counts twice: see messages.ts. */
  readonly messages: Table;
  /** People with their instance ids, and when that is looked through: see instances.ts. */
  readonly identities: Table;
  readonly identityDays: Table;
  /** Which variants people were given, and when that is looked through: see exposures.ts. */
  readonly exposures: Table;
  readonly exposureDays: Table;
  /** What became of packets and reports: see ledger.ts. */
  readonly ledger: Table;
}

/**
 * Opens the usage store of a data directory; each thread opens it for itself, the service's own first.
 * @throws {Error} as `openLaidOut` does
 */
export function openUsageStore(data: string): UsageStore {
  const lmdb = openLaidOut(data, usageLayout);
  return {
    lmdb,
    counts: openTable(lmdb, 'counts'),
    measurements: openTable(lmdb, 'measurements'),
    series: openTable(lmdb, 'series'),
    seen: openTable(lmdb, 'seen'),
    sketches: openTable(lmdb, 'sketches'),
    messages: openTable(lmdb, 'messages'),
    identities: openTable(lmdb, 'identities'),
    identityDays: openTable(lmdb, 'identityDays'),
    exposures: openTable(lmdb, 'exposures'),
    exposureDays: openTable(lmdb, 'exposureDays'),
    ledger: openTable(lmdb, 'ledger'),
  };
}
