import { workerData } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import { ApiError, type ErrorCode, isStoreFailure } from '../errors.ts';
import type { Reading } from '../store/snapshot.ts';
import { openUsageStore } from '../store/usage.ts';
import { logThreadConsole } from '../worker-log.ts';
import { createReports, type Reports } from './make-report.ts';
import { ReadingTurns } from './reading-turns.ts';

/** What this thread is asked for: the name of a report, and its task. */
export interface ReportRequest {
  readonly name: keyof Reports;
  readonly task: unknown;
}

/** What became of a report: errors lose their code when they cross threads, so it travels as data; LMDB's is a number. */
export type ReportOutcome<T> =
  | { readonly ok: true; readonly made: T }
  | { readonly ok: false; readonly code: ErrorCode | number; readonly message: string };

logThreadConsole();
const store = openUsageStore((workerData as { data: string }).data);
const reports = createReports(store);
const turns = new ReadingTurns(store.lmdb, systemClock);

/** Makes a report; others that are being made have turns in between. */
export async function make({ name, task }: ReportRequest): Promise<ReportOutcome<unknown>> {
  const start = reports[name] as (task: unknown) => Reading<unknown>;
  try {
    return { ok: true, made: await turns.finish(start(task)) };
  } catch (error) {
    if (!(error instanceof ApiError || isStoreFailure(error))) throw error;
    const { code, message } = error as ApiError | (Error & { code: number });
    return { ok: false, code, message };
  }
}

/** Ends the reports that are being made, and closes the store; a worker must not be ended with LMDB open. */
export async function close(): Promise<void> {
  await turns.end();
  await store.lmdb.close();
}
