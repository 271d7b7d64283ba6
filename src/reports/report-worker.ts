import { realpathSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { collectGarbage } from '../runtime/garbage.ts';
import { Histogram, watchLoop } from '../runtime/histogram.ts';
import { logThreadConsole } from '../runtime/log.ts';
import { type CallResult, captureResult } from '../runtime/thread-calls.ts';
import { dataFilesIn, ownStores } from '../storage/lmdb/data-directory.ts';
import { openMappedPages } from '../storage/lmdb/mapped-pages.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import { openUsageTables } from '../storage/lmdb/usage.ts';
import { type ExportRequest, makeExport } from './exports/make-export.ts';
import type { Chunk, Chunks } from './exports/rows.ts';
import { createReports, type Reports } from './make-report.ts';
import { ReadingScheduler } from './reading-scheduler.ts';

/** The parameters of the thread. */
export interface ReportWorkerStart {
  /** The data directory. */
  readonly data: string;
  /** Shared memory of the histogram of event loop delays. */
  readonly delays: ArrayBufferLike;
}

/** Requests the next chunk of an export, or the first chunk of a new export. */
interface ChunkRequest {
  /** Id of the export, chosen by the caller. */
  readonly id: number;
  readonly begin?: ExportRequest;
}

export interface ReportRequest {
  readonly name: keyof Reports;
  readonly task: unknown;
}

/** Minimum interval between two garbage collections, ms. A collection takes up to 50 ms of the report thread. */
const collectEveryMs = 5000;
/** The same interval after a time slice that does not end a report, because a collection delays the report. */
const collectInReportMs = 30_000;

/** Minimum interval between two releases of mapped pages, ms. */
const unmapEveryMs = 100;

logThreadConsole();
const { data, delays } = workerData as ReportWorkerStart;
watchLoop(new Histogram(undefined, delays), systemClock);
const store = openUsageTables(data);
const reports = createReports(store);
const scheduler = new ReadingScheduler(store.lmdb, systemClock, await memoryReleaser(data, systemClock));

/** The exports in progress. They hold no snapshot between two chunks. */
const underWay = new Map<number, Chunks>();

/** Does nothing. A call returns once this module has opened its files. */
export function opened(): void {}

/** Creates a report, interleaved with other reports. */
export function make({ name, task }: ReportRequest): Promise<CallResult> {
  const start = reports[name] as (task: unknown) => Reading<unknown>;
  return captureResult(() => scheduler.finish(start(task)));
}

/** Reads a chunk of an export. The export ends with its last chunk or with a failure. */
export function chunk({ id, begin }: ChunkRequest): Promise<CallResult<Chunk>> {
  if (begin !== undefined) underWay.set(id, makeExport(store, begin));
  return captureResult(async () => {
    let isLast = true;
    try {
      const made = await scheduler.finish(underWay.get(id)!.next());
      isLast = made.isLast;
      return made;
    } finally {
      if (isLast) underWay.delete(id);
    }
  });
}

/** Cancels an export between two chunks. */
export function stopExport(id: number): void {
  underWay.delete(id);
}

/** Cancels the reports in progress and closes the store. A worker must not exit while LMDB is open. */
export async function close(): Promise<void> {
  await scheduler.end();
  await store.lmdb.close();
}

/**
 * Returns a function that releases the memory of finished reports: their garbage, and the pages of the data files that
 * they read. The process would otherwise keep this memory, which is large for large stores. Call the function often,
 * including during long reports.
 */
async function memoryReleaser(data: string, clock: Pick<Clock, 'monotonic'>): Promise<(isLast: boolean) => void> {
  const unmap = await openMappedPages();
  let collectedAt = clock.monotonic();
  let unmappedAt = collectedAt;
  return (isLast) => {
    const now = clock.monotonic();
    if (now - unmappedAt >= unmapEveryMs) {
      unmappedAt = now;
      unmap?.(dataFilesIn(data, ownStores).map((file) => realpathSync(file)));
    }
    if (now - collectedAt >= (isLast ? collectEveryMs : collectInReportMs)) {
      collectedAt = now;
      setImmediate(collectGarbage); // A finished report is sent first.
    }
  };
}
