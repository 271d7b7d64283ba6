import { onlyCounts } from '../contract/errors.ts';
import type { Cluster, ServiceStatus as Status } from '../contract/shapes/status.ts';
import type { Ability, Readiness } from '../http/health.ts';
import type { RequestTotals } from '../http/request-totals.ts';
import type { BackupStatus } from '../storage/backup/schedule.ts';
import type { NodeStatus, UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { Core } from './core.ts';

/** Period over which the rates are computed, ms. */
const windowMs = 10_000;

/** The status of the service. It derives from existing counters, so it does not slow packets down. */
export class ServiceStatus {
  readonly #core: Core;
  readonly #requests: RequestTotals;
  /** One record of the totals per second, oldest first. */
  readonly #past: Totals[];
  readonly #recent = new RecentRates();

  constructor(core: Core, requests: RequestTotals) {
    this.#core = core;
    this.#requests = requests;
    this.#past = [readTotals(this.#core, this.#requests)];
  }

  /** Records the current totals. Call this every second. */
  look(): void {
    const now = readTotals(this.#core, this.#requests);
    const before = this.#past.at(-1)!;
    this.#recent.add({
      at: this.#core.clock.now(),
      elapsed: now.at - before.at,
      accepted: now.packets - before.packets + now.reports - before.reports,
      refused: now.refused - before.refused,
    });
    this.#past.push(now);
    while (this.#past.length > 1 && now.at - this.#past[1]!.at >= windowMs) this.#past.shift();
  }

  now(): Status {
    const { clock, intake, config, usageStore } = this.#core;
    const now = readTotals(this.#core, this.#requests);
    const before = this.#past[0]!;
    const rate = rateBetween(before, now);
    const commits = now.commits - before.commits;
    const { counting } = checkReadiness(this.#core);
    return {
      at: formatTime(clock.now()),
      packetsPerSecond: rate('packets'),
      reportsPerSecond: rate('reports'),
      refusedPerSecond: rate('refused'),
      recent: this.#recent.show(),
      queue: {
        waiting: intake.monitor.packets,
        limit: config.queueHighPackets,
        oldestMs: rounded(intake.monitor.oldest(now.at)),
      },
      commits: {
        total: now.commits,
        perSecond: rate('commits'),
        meanMs: commits === 0 ? null : rounded((now.commitMs - before.commitMs) / commits),
        failed: intake.failedCommits,
      },
      ready: counting.ready,
      reason: counting.reason,
      backup: showBackup(this.#core.backups?.status),
      cluster: showCluster(usageStore.status()),
    };
  }
}

/** Reads the totals. Their `at` is a monotonic time in ms. */
function readTotals({ clock, intake, counting: { ledger } }: Core, requests: RequestTotals) {
  return {
    at: clock.monotonic(),
    packets: requests.row('POST', '/api/frontend/telemetry').statuses.get(202) ?? 0,
    reports: ledger.reports,
    refused: sumCounts(ledger.attributed) + sumCounts(ledger.unattributed),
    commits: intake.commits,
    commitMs: 1000 * intake.commitTimes.read().sum,
  };
}

type Totals = ReturnType<typeof readTotals>;

function rateBetween(before: Totals, now: Totals): (total: keyof Totals) => number {
  const seconds = (now.at - before.at) / 1000;
  return (total) => (seconds > 0 ? rounded((now[total] - before[total]) / seconds) : 0);
}

function sumCounts(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function showBackup(status: BackupStatus | undefined): Status['backup'] {
  if (status === undefined) return null;
  const { lastGoodAt, lastBytes = null, nextAt, trouble } = status;
  return { lastGoodAt: timeOrNull(lastGoodAt), lastBytes, nextAt: timeOrNull(nextAt), trouble };
}

function showCluster(status: UsageStoreStatus | undefined): Cluster | null {
  if (status === undefined) return null;
  const { directory, postgres, nodes, completeThrough, spool, refused, rebases, setAsideBytes } = status;
  return {
    node: directory,
    connected: postgres.connected,
    reason: postgres.connected ? '' : postgres.reason,
    completeThrough: formatTime(completeThrough),
    spoolMaxBytes: spool.maxBytes,
    nodes: nodes.map(showNode),
    refusedRows: refused.rows,
    failovers: postgres.failovers,
    setAsideBytes,
    rebases,
  };
}

function showNode(node: NodeStatus): Cluster['nodes'][number] {
  const { directory, name, version, state, lag, spoolBytes } = node;
  return {
    directory,
    name,
    version,
    state,
    lag,
    spoolBytes,
    lastBeat: formatTime(node.lastBeat),
    oldestUnshipped: timeOrNull(node.oldestUnshipped),
    through: formatTime(node.through),
  };
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTime(ms);
}

/** Width of a bucket, s. */
const recentWidth = 5;
const bucketMs = 1000 * recentWidth;
/** Maximum number of buckets, which cover ten minutes. */
const maxBuckets = 120;
/** Maximum pause between measurements, ms. After a longer pause, as on a suspended machine, the rates restart. */
const longestPauseMs = 60_000;

interface Bucket {
  accepted: number;
  refused: number;
  /** Duration of the measurements in this bucket, ms. */
  elapsed: number;
}

interface TrafficSample {
  /** Unix ms. */
  readonly at: number;
  /** Time since the previous measurement, ms. */
  readonly elapsed: number;
  readonly accepted: number;
  readonly refused: number;
}

/** The rates of the last ten minutes, or since startup if that is later. */
class RecentRates {
  /** Number of the first bucket. Buckets are numbered from the epoch. */
  #first = 0;
  #buckets: Bucket[] = [];

  add({ at, elapsed, accepted, refused }: TrafficSample): void {
    const bucket = Math.floor(at / bucketMs);
    const behind = bucket - (this.#first + this.#buckets.length - 1);
    if (this.#buckets.length === 0 || behind < 0 || behind * bucketMs > longestPauseMs) {
      this.#first = bucket;
      this.#buckets = [];
    }
    const added = { accepted: 0, refused: 0, elapsed: 0 };
    while (this.#first + this.#buckets.length <= bucket) this.#buckets.push({ ...added });
    // A late measurement covers all buckets since the previous measurement, so it is spread over them.
    const covered = this.#buckets.slice(-Math.max(1, behind));
    for (const each of covered) {
      each.accepted += accepted / covered.length;
      each.refused += refused / covered.length;
      each.elapsed += elapsed / covered.length;
    }
    const surplus = Math.max(0, this.#buckets.length - maxBuckets);
    this.#buckets.splice(0, surplus);
    this.#first += surplus;
  }

  show(): Status['recent'] {
    const rates = (field: 'accepted' | 'refused') =>
      this.#buckets.map(({ [field]: count, elapsed }) => (elapsed > 0 ? rounded((1000 * count) / elapsed) : 0));
    return {
      start: new Date(this.#first * bucketMs).toISOString(),
      width: recentWidth,
      accepted: rates('accepted'),
      refused: rates('refused'),
    };
  }
}

/** Rounds to two decimals. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export function checkReadiness({ shutdown, health, intake, clock, accountStore, usageStore, disks }: Core): Readiness {
  const usage = usageStore.readiness();
  const stopping = shutdown.isNear ? 'the service is stopping' : undefined;
  const queue = intake.monitor.admits(clock.monotonic()) ? undefined : 'too many messages are waiting for the disk';
  // Anyone can read this message, so the host and the reason are only in the log and in the status.
  const { publicReason } = accountStore.status();
  const away = health.ready && publicReason !== undefined ? onlyCounts(publicReason) : undefined;
  return {
    counting: ability(stopping ?? usage.counting ?? queue),
    managing: ability(stopping ?? away ?? usage.managing),
    commits: intake.commits,
    warnings: disks.warnings,
  };
}

function ability(reason: string | undefined): Ability {
  return { ready: reason === undefined, reason: reason ?? '' };
}
