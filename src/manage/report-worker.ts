import { workerData } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import { type ErrorCode, Refusal } from '../errors.ts';
import type { Reading } from '../store/snapshot.ts';
import { openUsageStore } from '../store/usage.ts';
import { createReports, type Reports } from './make-report.ts';
import { ReadingTurns } from './reading-turns.ts';

/** What this thread is asked for: the name of a report, and its task. */
export interface ReportRequest {
  readonly name: keyof Reports;
  readonly task: unknown;
}

/** What became of a report: a refusal loses its code when it crosses threads, so it travels as data. */
export type ReportOutcome<T> =
  | { readonly ok: true; readonly made: T }
  | { readonly ok: false; readonly code: ErrorCode; readonly detail: string };

const store = openUsageStore((workerData as { data: string }).data);
const reports = createReports(store);
const turns = new ReadingTurns(store.environment, systemClock);

/** Makes a report; others that are being made have turns in between. */
export async function make({ name, task }: ReportRequest): Promise<ReportOutcome<unknown>> {
  const start = reports[name] as (task: unknown) => Reading<unknown>;
  try {
    return { ok: true, made: await turns.finish(start(task)) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, code: error.code, detail: error.message };
    throw error;
  }
}

/** Ends the reports that are being made, and closes the store; a worker must not be ended with LMDB open. */
export async function close(): Promise<void> {
  await turns.end();
  await store.environment.close();
}
