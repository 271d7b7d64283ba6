import { workerData } from 'node:worker_threads';
import type { Environment } from '../store/records.ts';
import { openUsageStore } from '../store/usage.ts';
import { measurementsReport } from './measurements-report.ts';
import type { ReportRange } from './report-range.ts';
import { usageReport } from './usage-report.ts';

/** What a report is asked for. */
export interface ReportTask {
  readonly environment: Environment;
  readonly range: ReportRange;
  /** The one feature or metric to report; every one when undefined. */
  readonly only: string | undefined;
}

const store = openUsageStore((workerData as { data: string }).data);

/** The usage report, as JSON. */
export function usage({ environment, range, only }: ReportTask): string {
  return JSON.stringify(usageReport(store, environment, range, only));
}

/** The measurements report, as JSON. */
export function measurements({ environment, range, only }: ReportTask): string {
  return JSON.stringify(measurementsReport(store, environment, range, only));
}

/** Closes the store; a worker must not be ended with LMDB open. */
export async function close(): Promise<void> {
  await store.environment.close();
}
