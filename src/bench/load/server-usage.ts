import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { basename, dirname } from 'node:path';

/** A server on this machine. */
interface WatchedServer {
  readonly pid: number;
  readonly data: string;
}

/** The counters of a server at one time, or their differences between two times. */
export interface ServerReading {
  readonly threads: readonly ThreadTime[];
  /** Counters of the whole device, for all processes; absent if the path has no device, as on tmpfs. */
  readonly disk?: DiskStats;
  /** Total duration of the commits of packets and reports. */
  readonly commitSeconds: number;
}

/**
 * Reads the counters of a server.
 * @param metrics the current metrics of the server, as text
 * @throws {Error} if the server has exited
 */
export function readServer({ pid, data }: WatchedServer, metrics: string): ServerReading {
  const device = findDevice(data);
  const commits = /^flagmeter_commit_duration_seconds_sum (\S+)$/m.exec(metrics)?.[1];
  return {
    threads: readThreads(pid),
    ...(device !== undefined && { disk: diskStats(device) }),
    commitSeconds: Number(commits ?? Number.NaN),
  };
}

/** Returns the difference between two readings. A thread that started in between counts from its start. */
export function usageBetween(before: ServerReading, after: ServerReading): ServerReading {
  const secondsBefore = new Map(before.threads.map(({ id, seconds }) => [id, seconds]));
  return {
    threads: after.threads.map((thread) => ({
      ...thread,
      seconds: thread.seconds - (secondsBefore.get(thread.id) ?? 0),
    })),
    ...(before.disk && after.disk && { disk: diskStatsBetween(before.disk, after.disk) }),
    commitSeconds: after.commitSeconds - before.commitSeconds,
  };
}

/** A thread, and the CPU time that it has used. */
interface ThreadTime {
  readonly id: number;
  /** Name of the thread. The main thread is `main`. Threads of the runtime have names such as `JITWorker`. */
  readonly name: string;
  readonly seconds: number;
}

export function readThreads(pid: number): ThreadTime[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const id = Number(task);
    const name = id === pid ? 'main' : readText(`/proc/${pid}/task/${id}/comm`)?.trim();
    const nanos = readText(`/proc/${pid}/task/${id}/schedstat`)?.split(' ')[0];
    if (name === undefined || nanos === undefined) return []; // The thread has ended.
    return [{ id, name, seconds: Number(nanos) / 1e9 }];
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/** Counters of a block device since the machine started, for all processes. */
export interface DiskStats {
  readonly bytes: number;
  readonly writes: number;
  readonly flushes: number;
}

/** Positions of fields in `/proc/diskstats` after the device name, from 1 (kernel: `admin-guide/iostats.rst`). */
const fields = { writes: 5, sectorsWritten: 7, flushes: 16 } as const;
const sectorBytes = 512;

/**
 * Returns the name of the whole disk device of a path, because the kernel does not count flushes of partitions.
 * @returns `undefined` if the path has no device, as on tmpfs or an overlay
 */
export function findDevice(path: string): string | undefined {
  const { dev } = statSync(path);
  const major = (dev >> 8) & 0xfff;
  const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
  const link = `/sys/dev/block/${major}:${minor}`;
  if (!existsSync(link)) return undefined;
  const folder = realpathSync(link);
  return basename(existsSync(`${folder}/partition`) ? dirname(folder) : folder);
}

export function diskStats(device: string): DiskStats {
  const line = readFileSync('/proc/diskstats', 'latin1')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find(([, , name]) => name === device);
  const field = (place: number) => Number(line?.[2 + place]);
  return {
    bytes: field(fields.sectorsWritten) * sectorBytes,
    writes: field(fields.writes),
    flushes: field(fields.flushes),
  };
}

export function diskStatsBetween(before: DiskStats, after: DiskStats): DiskStats {
  return {
    bytes: after.bytes - before.bytes,
    writes: after.writes - before.writes,
    flushes: after.flushes - before.flushes,
  };
}

/** CPU time of all processors since the machine started, ms. */
interface ProcessorTime {
  readonly busy: number;
  readonly idle: number;
}

export function readProcessorTime(): ProcessorTime {
  const times = cpus().map((each) => each.times);
  return {
    busy: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0),
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
  };
}

/** Returns the average number of cores that all processes of the machine used between two readings. */
export function busyCores(before: ProcessorTime, after: ProcessorTime, cores = availableParallelism()): number {
  const busy = after.busy - before.busy;
  const all = busy + after.idle - before.idle;
  return all === 0 ? 0 : (busy / all) * cores;
}
