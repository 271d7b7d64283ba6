import { Piscina } from 'piscina';
import { ApiError, storeUnavailable } from '../contract/errors.ts';
import type { Pieces } from '../http/types.ts';
import { FairQueue } from '../runtime/fair-queue.ts';
import { Histogram } from '../runtime/histogram.ts';
import { asPart, currentSpan } from '../runtime/spans.ts';
import { type Outcome, resultOf } from '../runtime/thread-calls.ts';
import type { ManageDeps } from './caller.ts';
import { ExportQueue } from './exports/export-queue.ts';
import type { ExportName, ExportTask } from './exports/make-export.ts';
import type { RowFormat } from './exports/row-writer.ts';
import type { Chunk } from './exports/rows.ts';
import type { Made, Reports } from './make-report.ts';
import type { ReportRequest, ReportWorkerStart } from './report-worker.ts';

/** Makes reports in another thread, so that a report over years of data does not delay packets. */
export interface ReportPool {
  /**
   * Makes a report when it is the team's turn.
   * @throws {ApiError} `rate_limited` or `backpressure` when too many reports wait already, `too_many_points`
   */
  make<Name extends keyof Reports>(
    teamId: string,
    name: Name,
    task: Parameters<Reports[Name]>[0],
  ): Promise<Made<Name>>;
  /** How late the thread comes to what is due, seconds. */
  readonly delays: Histogram;
  /**
   * Begins an export when it is the team's turn, and gives it once its first rows are there.
   * @throws {ApiError} `rate_limited` or `backpressure` when too many exports wait already
   */
  export<Name extends ExportName>(
    teamId: string,
    name: Name,
    task: ExportTask<Name>,
    format: RowFormat,
  ): Promise<Pieces>;
  /** Closes the worker's store, then the worker. */
  close(): Promise<void>;
}

/** What endpoints work on that have a report made. */
export interface ReportingDeps extends ManageDeps {
  readonly reports: ReportPool;
}

export const tooManyReports = 'Too many reports are waiting';

/** Each running report holds its points and one snapshot. The reports of one team run one after another. */
const bounds = {
  atOnce: 4,
  waitingEach: 16,
  waitingAll: 128,
  refusals: { each: 'Too many reports of this team are waiting', all: tooManyReports },
};

/** The exports of one team run one after another, and beside its reports: an export takes as long as its client does. */
const exportBounds = {
  atOnce: 3,
  waitingEach: 4,
  waitingAll: 32,
  refusals: { each: 'Too many exports of this team are waiting', all: 'Too many exports are waiting' },
};

/**
 * @param workerFile the compiled `manage/report-worker`
 * @param data the data directory
 * @param failed called if the thread cannot open the store: there are no reports from then on
 */
export function startReportPool(
  workerFile: string,
  data: string,
  failed: (error: unknown) => void,
): ReportPool {
  const queue = new FairQueue(bounds);
  const delays = Histogram.shared();
  const pool = new Piscina({
    filename: workerFile,
    workerData: { data, delays: delays.memory } satisfies ReportWorkerStart,
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: bounds.atOnce + exportBounds.atOnce + 1,
    // Running reports take turns in the thread's event loop, which must not block in between.
    atomics: 'disabled',
  });
  let unable: ApiError | undefined;
  pool.on('error', (error) => {
    unable = new ApiError('store_unavailable', storeUnavailable.unreadable, 5);
    failed(error);
    void pool.destroy(); // It would keep what waits, and start no other thread.
  });
  const run = async (name: string, task?: unknown) => {
    if (unable !== undefined) throw unable;
    return pool.run(task, { name }).catch((error) => {
      throw unable ?? error;
    });
  };
  const exports = new ExportQueue(new FairQueue(exportBounds), {
    chunk: async (request) => resultOf<Chunk>(await run('chunk', request)),
    stop: (id) => run('stopExport', id),
  });
  return {
    delays,
    make<Name extends keyof Reports>(teamId: string, name: Name, task: Parameters<Reports[Name]>[0]) {
      const span = currentSpan();
      return queue.run(teamId, async () => {
        const request: ReportRequest = { name, task };
        const outcome = await asPart(span, `report ${name}`, () => run('make', request));
        return resultOf(outcome as Outcome<Made<Name>>);
      });
    },
    export: (teamId, name, task, format) =>
      asPart(currentSpan(), `begin export ${name}`, () => exports.begin(teamId, { name, task, format })),
    async close() {
      exports.close();
      await run('close').catch(() => {});
      if (unable === undefined) await pool.close();
    },
  };
}
