import type { RequestTally } from '../http/request-tally.ts';
import type { ServiceStatusShown } from '../management/status-shape.ts';
import { showCluster } from './cluster-shown.ts';
import type { Core } from './core.ts';
import { readinessOf } from './readiness.ts';
import { showBackup } from './scheduled-backups.ts';

/** How long the rates look back, ms. */
const windowMs = 10_000;

/** What is counted since the start, at one time (monotonic ms). */
interface Totals {
  readonly at: number;
  readonly packets: number;
  readonly reports: number;
  readonly refused: number;
  readonly commits: number;
  readonly commitMs: number;
}

/** How the service does. It reads counters that exist for other reasons, so that no packet costs more for it. */
export class ServiceStatus {
  readonly #core: Core;
  readonly #requests: RequestTally;
  /** The totals of the last seconds, the oldest first. */
  readonly #past: Totals[];

  constructor(core: Core, requests: RequestTally) {
    this.#core = core;
    this.#requests = requests;
    this.#past = [this.#read()];
  }

  /** Remembers the totals of now: to be called every second. */
  look(): void {
    const now = this.#read();
    this.#past.push(now);
    while (this.#past.length > 1 && now.at - this.#past[1]!.at >= windowMs) this.#past.shift();
  }

  now(): ServiceStatusShown {
    const { clock, intake, config, usageEngine } = this.#core;
    const now = this.#read();
    const before = this.#past[0]!;
    const rate = rateBetween(before, now);
    const commits = now.commits - before.commits;
    const { counting } = readinessOf(this.#core);
    return {
      at: new Date(clock.now()).toISOString(),
      packetsPerSecond: rate('packets'),
      reportsPerSecond: rate('reports'),
      refusedPerSecond: rate('refused'),
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
      cluster: showCluster(usageEngine.status()),
    };
  }

  #read(): Totals {
    const { clock, intake, counting } = this.#core;
    const { ledger } = counting;
    const packets = this.#requests.row('POST', '/api/frontend/telemetry').statuses.get(202) ?? 0;
    return {
      at: clock.monotonic(),
      packets,
      reports: ledger.reports,
      refused: sumOf(ledger.attributed) + sumOf(ledger.unattributed),
      commits: intake.commits,
      commitMs: 1000 * intake.commitTimes.read().sum,
    };
  }
}

/** Gives the rate of a total, a second. */
function rateBetween(before: Totals, now: Totals): (total: keyof Totals) => number {
  const seconds = (now.at - before.at) / 1000;
  return (total) => (seconds > 0 ? rounded((now[total] - before[total]) / seconds) : 0);
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
