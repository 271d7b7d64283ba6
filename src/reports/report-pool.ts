import { Piscina } from 'piscina';
import { Refusal, storeUnavailable } from '../contract/errors.ts';
import type { BodyChunks } from '../http/types.ts';
import { FairQueue } from '../runtime/fair-queue.ts';
import { Histogram } from '../runtime/histogram.ts';
import { currentSpan, inChildSpan } from '../runtime/spans.ts';
import { type CallResult, unwrapResult } from '../runtime/thread-calls.ts';
import { ExportQueue } from './exports/export-queue.ts';
import type { ExportName, ExportTask } from './exports/make-export.ts';
import type { RowFormat } from './exports/row-writer.ts';
import type { Chunk } from './exports/rows.ts';
import type { ReportResult, Reports } from './make-report.ts';
import type { ReportRequest, ReportWorkerStart } from './report-worker.ts';

/** Creates reports in another thread, so that a report over years of data does not delay packets. */
export interface ReportPool {
  /**
   * Creates a report. Teams are served round robin.
   * @throws {Refusal} `rate_limited` or `backpressure` if too many reports are waiting, `too_many_points`
   */
  make<Name extends keyof Reports>(
    teamId: string,
    name: Name,
    task: Parameters<Reports[Name]>[0],
  ): Promise<ReportResult<Name>>;
  /** Event loop delay of the thread, seconds. */
  readonly delays: Histogram;
  /**
   * Starts an export. Resolves when its first rows are read. Teams are served round robin.
   * @throws {Refusal} `rate_limited` or `backpressure` if too many exports are waiting
   */
  export<Name extends ExportName>(
    teamId: string,
    name: Name,
    task: ExportTask<Name>,
    format: RowFormat,
  ): Promise<BodyChunks>;
  /** Closes the worker's store, then the worker. */
  close(): Promise<void>;
}

export const tooManyReports = 'Too many reports are waiting';

/** Limits of reports. A report holds its points in memory, and one snapshot. A team runs one report at a time. */
const bounds = {
  atOnce: 4,
  waitingEach: 16,
  waitingAll: 128,
  refusals: { each: 'Too many reports of this team are waiting', all: tooManyReports },
};

/** Limits of exports. A team runs one export at a time, in addition to a report, because clients can be slow. */
const exportBounds = {
  atOnce: 3,
  waitingEach: 4,
  waitingAll: 32,
  refusals: { each: 'Too many exports of this team are waiting', all: 'Too many exports are waiting' },
};

/**
 * Returns a pool that starts its thread for the first report or export. Many services make no report for hours, and the
 * thread takes 12 MB. If the thread cannot open the store, that report is refused, and the next report starts another
 * thread. Its parameters are the same as for `startReportPool`.
 */
export function openReportPool(workerFile: string, data: string, failed: (error: unknown) => void): ReportPool {
  const delays = Histogram.shared();
  let pool: Promise<ReportPool> | undefined;
  const started = () => {
    const stopped = (error: unknown) => {
      pool = undefined;
      failed(error);
    };
    pool ??= startReportPool(workerFile, data, stopped, delays).catch((error) => {
      stopped(error); // The thread cannot start.
      throw error;
    });
    return pool;
  };
  return {
    delays,
    make: async (...sent) => (await started()).make(...sent),
    export: async (...sent) => (await started()).export(...sent),
    close: async () => (await pool?.catch(() => undefined))?.close(),
  };
}

/**
 * Starts the thread. Resolves when it has opened its files.
 * @param workerFile path of the compiled `reports/report-worker`
 * @param data the data directory
 * @param failed called if the thread cannot open the store; all later reports fail
 */
export async function startReportPool(
  workerFile: string,
  data: string,
  failed: (error: unknown) => void,
  delays = Histogram.shared(),
): Promise<ReportPool> {
  const queue = new FairQueue(bounds);
  const pool = new Piscina({
    filename: workerFile,
    workerData: { data, delays: delays.memory } satisfies ReportWorkerStart,
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: bounds.atOnce + exportBounds.atOnce + 1,
    // With atomics, an idle worker blocks its thread. Reports in progress need the event loop of that thread.
    atomics: 'disabled',
  });
  let unable: Refusal | undefined;
  const fail = (error: unknown) => {
    if (unable !== undefined) return;
    unable = new Refusal('store_unavailable', storeUnavailable.unreadable, 5);
    failed(error);
    void pool.destroy(); // Otherwise, waiting tasks would never resolve or reject, because the thread is gone.
  };
  pool.on('error', fail);
  const run = async (name: string, task?: unknown) => {
    if (unable !== undefined) throw unable;
    return pool.run(task, { name }).catch((error) => {
      throw unable ?? error;
    });
  };
  await run('opened').catch(fail);
  const exports = new ExportQueue(new FairQueue(exportBounds), {
    chunk: async (request) => unwrapResult<Chunk>(await run('chunk', request)),
    stop: (id) => run('stopExport', id),
  });
  return {
    delays,
    make<Name extends keyof Reports>(teamId: string, name: Name, task: Parameters<Reports[Name]>[0]) {
      const span = currentSpan();
      return queue.run(teamId, async () => {
        const request: ReportRequest = { name, task };
        const result = await inChildSpan(span, `report ${name}`, () => run('make', request));
        return unwrapResult(result as CallResult<ReportResult<Name>>);
      });
    },
    export: (teamId, name, task, format) =>
      inChildSpan(currentSpan(), `begin export ${name}`, () => exports.begin(teamId, { name, task, format })),
    async close() {
      exports.close();
      await run('close').catch(() => {});
      if (unable === undefined) await pool.close();
    },
  };
}
