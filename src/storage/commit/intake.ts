import { Histogram } from '../../runtime/histogram.ts';
import type { Log } from '../../runtime/log.ts';
import { CommitWatch, type SlowCommits } from '../lmdb/commit-watch.ts';
import type { StoreHealth } from '../lmdb/store-health.ts';
import type { Committer } from './committer.ts';
import { Lane, type LaneLimits, type LaneTime } from './lane.ts';
import { QueueMonitor } from './queue-monitor.ts';

/** Limits on packets that wait for the disk; see the settings of the same names. */
export interface IntakeLimits extends LaneLimits {
  readonly queueHighPackets: number;
  readonly queueLowPackets: number;
  readonly queueHighBytes: number;
  readonly queueLowBytes: number;
  readonly queueHighAge: number;
  readonly queueLowAge: number;
}

/**
 * Number of admissions between two checks for finished commits. A turn of the event loop seldom has more; at its end the results
 * arrive as events. Checking at each admission would split the same packets into smaller commits.
 */
const collectEvery = 128;

export interface CommitLogs {
  /** Counts every commit. */
  readonly log?: Pick<Log, 'debug'> | undefined;
  readonly slow?: SlowCommits;
}

/** Buckets up to the largest batch: see `--batch-packets`. */
const batchSizes = [1, 4, 16, 64, 256, 1024, 4096];

/** The lanes to the aggregate workers, and the monitor that bounds the packets waiting in all of them. */
export class Intake {
  readonly monitor: QueueMonitor;
  /** Number of batches committed since the start. */
  commits = 0;
  /** Number of packets and reports in them. */
  committedPackets = 0;
  failedCommits = 0;
  readonly batchSizes = new Histogram(batchSizes);
  #admissions = 0;
  readonly #watch: CommitWatch;
  readonly #committers: readonly Committer[];
  readonly #lanes: readonly Lane[];
  readonly #health: StoreHealth;

  /** @param committers one for each worker; they are closed with the intake */
  constructor(
    committers: readonly Committer[],
    health: StoreHealth,
    time: LaneTime,
    limits: IntakeLimits,
    { log, slow }: CommitLogs = {},
  ) {
    this.#watch = new CommitWatch('usage', slow);
    this.#committers = committers;
    this.#health = health;
    this.monitor = new QueueMonitor({
      packets: { high: limits.queueHighPackets, low: limits.queueLowPackets },
      bytes: { high: limits.queueHighBytes, low: limits.queueLowBytes },
      age: { high: limits.queueHighAge, low: limits.queueLowAge },
    });
    const listener = {
      committed: (packets: number, ms: number) => {
        this.commits += 1;
        this.committedPackets += packets;
        this.#watch.took(ms, { packets });
        this.batchSizes.observe(packets);
        log?.debug('committed', { packets, ms });
      },
      failed: (error: unknown) => {
        this.failedCommits += 1;
        health.failed(error);
      },
    };
    this.#lanes = committers.map((committer) => new Lane(committer, this.monitor, time, limits, listener));
  }

  /** Durations of commits, in seconds. */
  get commitTimes(): Histogram {
    return this.#watch.times;
  }

  /** The lane of an application. All its packets use the same lane, so they are committed in order of arrival. */
  laneOf(applicationNumber: number): Lane {
    return this.#lanes[applicationNumber % this.#lanes.length]!;
  }

  /** Settles finished commits while packets keep the event loop from delivering the workers' messages. */
  collect(): void {
    this.#admissions += 1;
    if (this.#admissions % collectEvery === 0) for (const committer of this.#committers) committer.collect();
  }

  flushLedger(): void {
    if (this.#health.ready) for (const lane of this.#lanes) lane.flushLedger();
  }

  async close(): Promise<void> {
    await this.#idle();
    this.flushLedger();
    await this.#idle();
    await Promise.all(this.#committers.map((committer) => committer.close()));
  }

  async #idle(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.idle()));
  }
}
