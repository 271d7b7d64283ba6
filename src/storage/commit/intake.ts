import { Histogram } from '../../runtime/histogram.ts';
import type { Log } from '../../runtime/log.ts';
import type { NewSeries } from '../lmdb/series.ts';
import { CommitWatch, type SlowCommits, type StoreHealth } from '../lmdb/store-health.ts';
import type { Committer } from './committer.ts';
import { Lane, type LaneLimits, type LaneTime } from './lane.ts';
import { type OtherQueues, QueueMonitor } from './queue-monitor.ts';

export interface IntakeLimits extends LaneLimits {
  readonly queueHighPackets: number;
  readonly queueLowPackets: number;
  readonly queueHighBytes: number;
  readonly queueLowBytes: number;
  readonly queueHighAge: number;
  readonly queueLowAge: number;
}

/**
 * Number of admissions between two checks for finished commits. Most iterations of the event loop have fewer
 * admissions, and receive finished commits as events at the end of the iteration. More frequent checks would lead to
 * more and smaller commits.
 */
const collectEvery = 128;

export interface IntakeOptions {
  readonly log?: Pick<Log, 'debug'> | undefined;
  readonly slow?: SlowCommits;
  readonly others?: OtherQueues | undefined;
}

export interface TakenCommits {
  readonly commits: number;
  readonly packets: number;
  readonly failed: number;
  readonly sizes: Float64Array;
  readonly times: Float64Array;
}

/** Upper bounds of the histogram's buckets, up to the largest batch: see `--batch-packets`. */
const batchSizes = [1, 4, 16, 64, 256, 1024, 4096];

/** The queues of the aggregate workers (lanes), and the monitor that limits the number of packets in these queues. */
export class Intake {
  readonly monitor: QueueMonitor;
  /** Number of batches committed since startup. */
  commits = 0;
  /** Number of packets and reports in committed batches. */
  committedPackets = 0;
  failedCommits = 0;
  readonly batchSizes = new Histogram(batchSizes);
  #admissions = 0;
  readonly #watch: CommitWatch;
  readonly #committers: readonly Committer[];
  readonly #lanes: readonly Lane[];
  readonly #health: Pick<StoreHealth, 'ready' | 'failed'>;
  readonly #durable: ((series: readonly NewSeries[]) => void)[] = [];

  /** @param committers one for each worker; the intake closes them */
  constructor(
    committers: readonly Committer[],
    health: Pick<StoreHealth, 'ready' | 'failed'>,
    time: LaneTime,
    limits: IntakeLimits,
    { log, slow, others }: IntakeOptions = {},
  ) {
    this.#watch = new CommitWatch('usage', slow);
    this.#committers = committers;
    this.#health = health;
    const watermarks = {
      packets: { high: limits.queueHighPackets, low: limits.queueLowPackets },
      bytes: { high: limits.queueHighBytes, low: limits.queueLowBytes },
      age: { high: limits.queueHighAge, low: limits.queueLowAge },
    };
    this.monitor = new QueueMonitor(watermarks, others);
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
      durable: (series: readonly NewSeries[]) => {
        for (const listen of this.#durable) listen(series);
      },
    };
    this.#lanes = committers.map((committer) => new Lane(committer, this.monitor, time, limits, listener));
  }

  get commitTimes(): Histogram {
    return this.#watch.times;
  }

  take(): TakenCommits {
    const { commits, committedPackets: packets, failedCommits: failed } = this;
    this.commits = this.committedPackets = this.failedCommits = 0;
    return { commits, packets, failed, sizes: this.batchSizes.take(), times: this.commitTimes.take() };
  }

  add({ commits, packets, failed, sizes, times }: TakenCommits): void {
    this.commits += commits;
    this.committedPackets += packets;
    this.failedCommits += failed;
    this.batchSizes.add(sizes);
    this.commitTimes.add(times);
  }

  /** Finds the lane of an application. All packets of an application use one lane, so their order is preserved. */
  findLane(applicationNumber: number): Lane {
    return this.#lanes[applicationNumber % this.#lanes.length]!;
  }

  /** @param listener called with the new series of each commit, before the senders of the packets get responses */
  onDurable(listener: (series: readonly NewSeries[]) => void): void {
    this.#durable.push(listener);
  }

  /** Settles finished commits, because many packets can delay the event loop, which otherwise delivers the results. */
  collect(): void {
    this.#admissions += 1;
    if (this.#admissions % collectEvery === 0) for (const committer of this.#committers) committer.collect();
  }

  flushLedger(): void {
    if (this.#health.ready) for (const lane of this.#lanes) lane.flushLedger();
  }

  async settled(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.settled()));
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
