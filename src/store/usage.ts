import { type Environment, openTable, type Table } from './environment.ts';
import { openLaidOut, usageLayout } from './layout.ts';

/** The tables of the usage environment. The aggregate workers write it; the service's own thread only reads. */
export interface UsageStore {
  readonly environment: Environment;
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
 * Opens the usage environment of a data directory; each thread opens it for itself, the service's own first.
 * @throws {Error} as `openLaidOut` does
 */
export function openUsageStore(data: string): UsageStore {
  const environment = openLaidOut(data, usageLayout);
  return {
    environment,
    counts: openTable(environment, 'counts'),
    measurements: openTable(environment, 'measurements'),
    series: openTable(environment, 'series'),
    seen: openTable(environment, 'seen'),
    sketches: openTable(environment, 'sketches'),
    messages: openTable(environment, 'messages'),
    identities: openTable(environment, 'identities'),
    identityDays: openTable(environment, 'identityDays'),
    exposures: openTable(environment, 'exposures'),
    exposureDays: openTable(environment, 'exposureDays'),
    ledger: openTable(environment, 'ledger'),
  };
}
