import { workerData } from 'node:worker_threads';
import { openUsageStore } from '../store/usage.ts';
import { createReports } from './make-report.ts';

const store = openUsageStore((workerData as { data: string }).data);

/** Each of the reports is a task of this worker. */
export const { usage, measurements, features, metrics, sight } = createReports(store);

/** Closes the store; a worker must not be ended with LMDB open. */
export async function close(): Promise<void> {
  await store.environment.close();
}
