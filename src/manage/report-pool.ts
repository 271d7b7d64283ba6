import { Piscina } from 'piscina';
import { Refusal } from '../errors.ts';
import type { Reports } from './make-report.ts';

/** Makes reports in a thread of their own: one over years of data must not keep packets waiting. */
export interface ReportPool {
  /** @throws {Refusal} `backpressure` when too many reports wait already */
  make<Name extends keyof Reports>(
    name: Name,
    task: Parameters<Reports[Name]>[0],
  ): Promise<ReturnType<Reports[Name]>>;
  /** Closes the worker's store, then the worker. */
  close(): Promise<void>;
}

const mostWaiting = 64;

/**
 * @param workerFile the compiled `manage/report-worker`
 * @param data the data directory
 */
export function startReportPool(workerFile: string, data: string): ReportPool {
  const workerData = { data };
  const options = { minThreads: 1, maxThreads: 1, maxQueue: mostWaiting };
  const pool = new Piscina({ filename: workerFile, workerData, ...options });
  return {
    make(name, task) {
      if (pool.queueSize >= mostWaiting) throw new Refusal('backpressure', 'Too many reports are waiting', 1);
      return pool.run(task, { name });
    },
    async close() {
      await pool.run(undefined, { name: 'close' });
      await pool.close();
    },
  };
}
