import { expect, vi } from 'vitest';
import { manage } from './binary.ts';

/** The ledger of an application. */
export interface LedgerReport {
  readonly accepted: number;
  readonly refused: number;
  readonly noted: number;
  readonly entries: readonly LedgerReportEntry[];
  readonly versions?: readonly { readonly version: string | null; readonly accepted: number }[];
}

export interface LedgerReportEntry {
  readonly environment: string | null;
  readonly transport: string;
  readonly route: string;
  readonly sender: { readonly userAgent: string | null; readonly instance: string | null };
  readonly outcome: string;
  readonly status: number;
  readonly code: string | null;
  readonly count: number;
  readonly example: Readonly<Record<string, string>> | null;
}

/** Reads the ledger of an application. */
export async function readLedger(http: string, access: string, application: string, query = ''): Promise<LedgerReport> {
  const path = `/api/v2/applications/${application}/ingest?${query}`;
  return (await manage(http, access, 'GET', path, 200)) as LedgerReport;
}

/** Reads the ledger when it contains the given number of refusals. Refusals are recorded within a second. */
export async function readRefusals(
  http: string,
  access: string,
  application: string,
  refused: number,
): Promise<LedgerReport> {
  const report = await vi.waitUntil(
    async () => {
      const latest = await readLedger(http, access, application);
      return latest.refused >= refused && latest;
    },
    { interval: 100 },
  );
  expect(report.refused).toBe(refused);
  return report;
}
