import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Delta, emptyContent, encodeDelta } from '../src/replication/delta.ts';
import type { Entry } from '../src/replication/entry.ts';
import { Replica } from '../src/replication/replica.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../src/storage/lmdb/blocks.ts';
import { openReplicaStore } from '../src/storage/lmdb/usage.ts';

/**
 * Speed at which a node applies the log, writes snapshots and loads snapshots. Rates are per thread. Each commit is
 * flushed to disk.
 */
export interface ReplicaFigures {
  /** Cells applied per second. There are 10 000 series with a cell per minute, in deltas of 1 000 cells. */
  readonly cellsPerSecond: number;
  /** CPU time per 10 000 cells, ms. */
  readonly cpuMs: number;
  /**
   * Seconds for applying an hour's backlog of 10 000 series, which has 600 000 cells. A delta contains all minutes of
   * some series.
   */
  readonly backlogSeconds: number;
  /** Duration of the longest call of `apply`, ms. */
  readonly longestCallMs: number;
  /**
   * Size of the store's file, MiB: before a snapshot is read from it, and after 600 000 more cells were applied during
   * the reading.
   */
  readonly fileMiB: readonly [before: number, after: number];
  readonly snapshot: { readonly compressedMiB: number; readonly parts: number };
  /** Speed of writing a snapshot, MiB of the store's file per second. */
  readonly writeMiBPerSecond: number;
  readonly loadMiBPerSecond: number;
  /** Speed of loading a snapshot into a store that already has the same size, MiB of the store's file per second. */
  readonly reloadMiBPerSecond: number;
}

const series = 10_000;
const environment = 1;
const firstMinute = Math.floor(Date.UTC(2026, 0, 1) / 60_000);

/**
 * Measures a replica in a separate directory.
 * @param hours number of hours in the snapshot, each with cells of 10 000 series
 */
export async function measureReplica(hours: number): Promise<ReplicaFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-bench-'));
  try {
    const node = new BenchReplica(join(folder, 'a'));
    const joining = new BenchReplica(join(folder, 'b'));
    const figures = await measure(node, joining, hours);
    for (const each of [node, joining]) await each.store.lmdb.close();
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(node: BenchReplica, joining: BenchReplica, hours: number): Promise<ReplicaFigures> {
  node.apply([node.entry({ series: names(series) })]);
  const live = node.timed(byMinute(node, 10));
  const backlog = node.timed(bySeries(node, 1));
  for (let hour = 2; hour <= hours; hour += 1) node.apply(bySeries(node, hour));
  const before = node.fileMiB;
  const snapshot = node.replica.snapshot();
  const more = bySeries(node, hours + 1);
  const chunks: Buffer[] = [];
  for await (const chunk of snapshot.parts()) {
    chunks.push(chunk);
    node.apply(more.splice(0, Math.ceil(more.length / 10)));
  }
  const after = node.fileMiB;
  const alone = performance.now();
  for await (const _ of node.replica.snapshot().parts());
  const written = performance.now();
  await joining.replica.load(each(chunks));
  const loaded = performance.now();
  await joining.replica.load(each(chunks));
  const reloaded = performance.now();
  return {
    cellsPerSecond: Math.round((10 * series * 1000) / live.ms),
    cpuMs: Math.round(live.cpuMs) / 10,
    backlogSeconds: Math.round(backlog.ms) / 1000,
    longestCallMs: Math.round(Math.max(live.longestMs, backlog.longestMs)),
    fileMiB: [before, after],
    snapshot: { compressedMiB: sumMebibytes(chunks), parts: chunks.length },
    writeMiBPerSecond: Math.round((before * 1000) / (written - alone)),
    loadMiBPerSecond: Math.round((before * 1000) / (loaded - written)),
    reloadMiBPerSecond: Math.round((before * 1000) / (reloaded - loaded)),
  };
}

/** A replica in a separate directory. */
export class BenchReplica {
  readonly store;
  readonly replica: Replica;
  readonly #file: string;
  #position = 0;

  constructor(data: string) {
    this.store = openReplicaStore(data);
    this.replica = new Replica(this.store, () => performance.now());
    this.#file = join(data, 'usage', 'data.mdb');
  }

  get fileMiB(): number {
    return mebi(statSync(this.#file).size);
  }

  entry(fields: Partial<Delta>): Entry {
    this.#position += 1;
    const position = this.#position;
    const head = { stream: 's', seq: position, since: 0, version: 1, through: 0 };
    const body = encodeDelta({ ...emptyContent(), ...head, ...fields });
    return { position, id: String(position), kind: 'delta', stream: 's', seq: position, body };
  }

  apply(entries: Entry[]): number {
    let longest = 0;
    for (let at = 0; at < entries.length; ) {
      const began = performance.now();
      at += this.replica.apply(entries.slice(at, at + 100)).count;
      longest = Math.max(longest, performance.now() - began);
    }
    return longest;
  }

  timed(entries: Entry[]): { ms: number; cpuMs: number; longestMs: number } {
    const cpu = process.cpuUsage();
    const began = performance.now();
    const longestMs = this.apply(entries);
    const { user, system } = process.cpuUsage(cpu);
    return { ms: performance.now() - began, cpuMs: (user + system) / 1000, longestMs };
  }
}

/** Returns the names of the first series of an environment, with eight variants per feature. */
export function names(count: number): Delta['series'] {
  return Array.from({ length: count }, (_, ordinal) => {
    return { environment, ordinal, name: [`feature-${Math.floor(ordinal / 8)}`, `v${ordinal % 8}`] as const };
  });
}

/**
 * Returns the entries that a node ships while PostgreSQL is reachable: deltas of 1 000 cells, for each minute of all
 * series.
 */
function byMinute(node: BenchReplica, minutes: number): Entry[] {
  const entries: Entry[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    for (let from = 0; from < series; from += 1000) {
      entries.push(node.entry(cells(from, 1000, [firstMinute + minute])));
    }
  }
  return entries;
}

/** Returns entries that a node ships after an hour without PostgreSQL. A delta has all minutes of 16 series. */
function bySeries(node: BenchReplica, hour: number): Entry[] {
  const minutes = Array.from({ length: 60 }, (_, minute) => firstMinute + hour * 60 + minute);
  return Array.from({ length: series / 16 }, (_, index) => node.entry(cells(index * 16, 16, minutes)));
}

/** Returns cells of some series: one cell for each series and minute. */
export function cells(from: number, many: number, minutes: readonly number[]): Partial<Delta> {
  const counts: number[] = [];
  const seen: number[] = [];
  for (let ordinal = from; ordinal < from + many; ordinal += 1) {
    const ref = seriesRef(environment, ordinal);
    for (const minute of minutes)
      counts.push(
        ref,
        encodeBucket(bucketWidth.minute, minute),
        (minute * (ordinal + 7)) % 90_001,
        minute % 89,
        ordinal % 53,
      );
    seen.push(ref, minutes[0]!, minutes.at(-1)!);
  }
  return { counts, seen };
}

async function* each(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

function sumMebibytes(chunks: readonly Buffer[]): number {
  return mebi(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
}

function mebi(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10;
}

if (import.meta.url === `file://${process.argv[1]}`) {
  console.log(await measureReplica(Number(process.argv[2] ?? 12)));
}
