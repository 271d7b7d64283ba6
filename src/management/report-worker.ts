import { workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/clock.ts';
import { Histogram, watchLoop } from '../runtime/histogram.ts';
import { type Outcome, outcomeOf } from '../runtime/thread-calls.ts';
import { logThreadConsole } from '../runtime/worker-log.ts';
import type { Reading } from '../storage/lmdb/snapshot.ts';
import { openUsageTables } from '../storage/lmdb/usage.ts';
import { type ExportRequest, makeExport } from './exports/make-export.ts';
import type { Chunk, Chunks } from './exports/rows.ts';
import { createReports, type Reports } from './make-report.ts';
import { ReadingTurns } from './reading-turns.ts';
import { memoryReleaser } from './release-memory.ts';

/** The parameters of the thread. */
export interface ReportWorkerStart {
  /** The data directory. */
  readonly data: string;
  /** Shared memory of the histogram of event loop delays. */
  readonly delays: ArrayBufferLike;
}

/** Requests the next chunk of an export, or the first chunk of a new one. */
export interface ChunkRequest {
  /** Chosen by the caller. */
  readonly id: number;
  readonly begin?: ExportRequest;
}

export interface ReportRequest {
  readonly name: keyof Reports;
  readonly task: unknown;
}

logThreadConsole();
const { data, delays } = workerData as ReportWorkerStart;
watchLoop(new Histogram(undefined, delays), systemClock);
const store = openUsageTables(data);
const reports = createReports(store);
const turns = new ReadingTurns(store.lmdb, systemClock, await memoryReleaser(data, systemClock));

/** The exports in progress. They hold no snapshot between two chunks. */
const underWay = new Map<number, Chunks>();

/** Answered when this module has opened its files. */
export function opened(): void {}

/** Creates a report, in turns with others. */
export function make({ name, task }: ReportRequest): Promise<Outcome> {
  const start = reports[name] as (task: unknown) => Reading<unknown>;
  return outcomeOf(() => turns.finish(start(task)));
}

/** Reads a chunk of an export. The last chunk or a failure ends it. */
export function chunk({ id, begin }: ChunkRequest): Promise<Outcome<Chunk>> {
  if (begin !== undefined) underWay.set(id, makeExport(store, begin));
  return outcomeOf(async () => {
    let isLast = true;
    try {
      const made = await turns.finish(underWay.get(id)!.next());
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
  await turns.end();
  await store.lmdb.close();
}
