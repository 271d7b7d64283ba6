import { type DiskStats, deviceOf, diskStats, diskStatsBetween } from './disk-stats.ts';
import { peakRssMb, rssMb, type ThreadCpu, threadsOf } from './process-stats.ts';

/** A server on this machine. */
export interface Watched {
  readonly pid: number;
  readonly data: string;
}

/** Commits of packets and reports since the server started. */
interface Commits {
  readonly commits: number;
  /** Total duration. */
  readonly seconds: number;
  readonly packets: number;
}

/** The counters of a server at one moment, or between two. */
export interface ServerReading {
  readonly threads: readonly ThreadCpu[];
  readonly rssMb: number;
  readonly peakRssMb: number;
  /** Of the whole device, by all processes; missing without one, as on tmpfs. */
  readonly disk?: DiskStats;
  readonly commits: Commits;
}

/**
 * Reads the counters.
 * @param metrics the current text of its metrics
 * @throws {Error} if the server is gone
 */
export function readServer({ pid, data }: Watched, metrics: string): ServerReading {
  const device = deviceOf(data);
  return {
    threads: threadsOf(pid),
    rssMb: rssMb(pid),
    peakRssMb: peakRssMb(pid),
    ...(device !== undefined && { disk: diskStats(device) }),
    commits: {
      commits: sampleOf(metrics, 'flagmeter_commit_duration_seconds_count'),
      seconds: sampleOf(metrics, 'flagmeter_commit_duration_seconds_sum'),
      packets: sampleOf(metrics, 'flagmeter_packets_committed_total'),
    },
  };
}

/** The difference between two readings, with the later memory. A thread that has started since counts from its start. */
export function usageBetween(before: ServerReading, after: ServerReading): ServerReading {
  const secondsBefore = new Map(before.threads.map(({ id, seconds }) => [id, seconds]));
  const { rssMb, peakRssMb } = after;
  return {
    threads: after.threads.map((thread) => ({
      ...thread,
      seconds: thread.seconds - (secondsBefore.get(thread.id) ?? 0),
    })),
    rssMb,
    peakRssMb,
    ...(before.disk && after.disk && { disk: diskStatsBetween(before.disk, after.disk) }),
    commits: {
      commits: after.commits.commits - before.commits.commits,
      seconds: after.commits.seconds - before.commits.seconds,
      packets: after.commits.packets - before.commits.packets,
    },
  };
}

/** The value of a metric without labels. */
function sampleOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN);
}
