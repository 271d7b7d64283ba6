/*
 * src/storage/commit: from packets to one commit, and from there to the store.
 *
 * On the service's thread, an Intake has a Lane for each worker. lane.submit fills the open Batch, which has a buffer for
 * each kind of record (records/). When the disk is free, the lane seals the batch into an Envelope and hands it to its
 * Committer (journaled-committer.ts). That has the journal's thread (journal-worker.ts) append it as one frame. When the frame is
 * on disk, the promise of the batch resolves, and with it the wait of all its senders. About once a second another thread
 * (worker.ts) folds the new frames (fold.ts): the Aggregator writes them to the usage store as one transaction, one Section
 * after the other.
 */

import { ApiError, storeUnavailable } from '../../contract/errors.ts';
import type { TimerClock } from '../../runtime/clock.ts';
import { Batch, nothingUnkept } from './batch.ts';
import type { Committer } from './committer.ts';
import { LedgerTallies } from './ledger-tallies.ts';
import type { QueueMonitor, Waiting } from './queue-monitor.ts';
import { RecordArrays } from './records/record-arrays.ts';

/** Is told how commits end. */
export interface CommitListener {
  /** @param ms that the commit took */
  committed(packets: number, ms: number): void;
  failed(error: unknown): void;
}

/** What bounds the commits of a lane; see the settings of the same names. */
export interface LaneLimits {
  readonly batchPackets: number;
  readonly commitDelay: number;
  readonly commitSiblings: number;
}

/** Monotonic time, and calling back once after some of it. */
export type LaneTime = Pick<TimerClock, 'monotonic' | 'after'>;

interface Queued {
  readonly batch: Batch;
  readonly waiting: Waiting;
  /** Whether a barrier waits for it, so that it is not delayed. */
  isAwaited: boolean;
  /** The batch that is committed after this one. */
  next: Queued | undefined;
}

/**
 * Memory that the records of one commit take, about: 13 000 records, which a worker adds up in a few milliseconds. A larger
 * commit would be no cheaper a record, and the packets behind it would wait longer.
 */
const batchBytes = 512 * 1024;

/** What part of a batch each application may still add to when the batch is full. */
const ownPart = 1 / 8;

/** Memory that a waiting packet takes besides its records: its request, and the promise of its answer. */
const packetBytes = 1024;

/**
 * Packets with which the first batch after a pause is sent. A turn of the event loop may read hundreds of packets and take
 * milliseconds: the disk would be idle meanwhile, and the senders afterwards.
 */
const enoughPackets = 128;

/**
 * The way to one aggregate worker. While a commit is in flight the next batch fills (group commit): the disk sets the
 * size of the batches, and a timer only where `--commit-delay` allows one.
 */
export class Lane {
  readonly #committer: Committer;
  readonly #monitor: QueueMonitor;
  readonly #time: LaneTime;
  readonly #limits: LaneLimits;
  readonly #listener: CommitListener;
  #queue: Queued[] = [];
  /** The batch that an application's last packet joined, until its commit begins. */
  readonly #lastOf = new Map<number, Queued>();
  #draining: Promise<void> | undefined;
  /** Resolves or rejects with the batch that was opened last. */
  #newest: Promise<void> = Promise.resolve();
  /** Ends the wait of the first batch after a pause. */
  #sendFirst: () => void = () => {};
  /** Ends the delay of the batch that is sent next. */
  #endDelay: () => void = () => {};
  /** Of batches that failed: later batches refer to it, so the next batch brings it. */
  #unkept = nothingUnkept;
  readonly #arrays = new RecordArrays();
  /** What the ledger says of packets that are in no batch: the next batch brings it. */
  readonly ledger = new LedgerTallies();

  constructor(
    committer: Committer,
    monitor: QueueMonitor,
    time: LaneTime,
    limits: LaneLimits,
    listener: CommitListener,
  ) {
    this.#committer = committer;
    this.#monitor = monitor;
    this.#time = time;
    this.#limits = limits;
    this.#listener = listener;
  }

  /**
   * Adds a packet of an application to the next batch that has room for it. An application that has filled a batch goes on
   * in later ones, while others still join the first: they take turns.
   * @param fill adds all of the packet before it returns, so that a packet is never split
   * @param bytes memory that the packet takes besides what it adds to the batch
   * @returns the batch's own promise: it resolves when the packet is on disk
   * @throws {ApiError} `store_unavailable` (through the promise): nothing of the packet was kept
   */
  submit(application: number, fill: (batch: Batch) => void, bytes = 0): Promise<void> {
    const batch = this.#fill(application, fill, bytes);
    batch.packets += 1;
    if (batch.packets === enoughPackets) this.#sendFirst();
    if (batch.packets === this.#limits.commitSiblings) this.#endDelay();
    return batch.durable;
  }

  /**
   * Adds what comes before a message that is too large for one batch, and may be kept without it: names, and users, who count
   * once however often they come. It goes with the same batch as the message or with an earlier one.
   * @returns as `submit`
   */
  addBefore(application: number, fill: (batch: Batch) => void): Promise<void> {
    return this.#fill(application, fill, 0).durable;
  }

  #fill(application: number, fill: (batch: Batch) => void, bytes: number): Batch {
    const queued = this.#batchFor(application);
    this.#draining ??= this.#drain();
    const { batch, waiting } = queued;
    const before = batch.bytes;
    fill(batch);
    const held = packetBytes + bytes + batch.bytes - before;
    this.#monitor.join(waiting, application, held, this.#time.monotonic());
    this.#lastOf.set(application, queued);
    return batch;
  }

  /**
   * Resolves when all that an application has sent before, and what the ledger says of it, is on disk or was refused.
   * @throws {ApiError} `store_unavailable`: some of it may still go with a later batch
   */
  async barrier(application: number): Promise<void> {
    await this.#nextCommit(application);
    // Senders that waited for the same batch tell the ledger before the next turn, so that goes with the next batch.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#nextCommit(application);
  }

  /** Commits what waits for the ledger, unless a batch is about to bring it. */
  flushLedger(): void {
    if (this.ledger.size === 0 || this.#draining !== undefined) return;
    this.#startBatch();
    this.#draining = this.#drain();
  }

  /** Resolves when all that was submitted before is on disk or was refused. */
  settled(): Promise<void> {
    return this.#newest.catch(() => {}); // Batches are committed in the order in which they were opened.
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  /** Resolves with the first commit that begins after all that an application has sent. */
  #nextCommit(application: number): Promise<void> {
    const queued = this.#lastOf.get(application) ?? this.#queue[0] ?? this.#startBatch();
    queued.isAwaited = true;
    this.#endDelay();
    this.#draining ??= this.#drain();
    return queued.batch.durable;
  }

  #batchFor(application: number): Queued {
    let queued = this.#lastOf.get(application) ?? this.#queue[0];
    while (queued !== undefined && !this.#hasRoom(queued.waiting, application)) queued = queued.next;
    return queued ?? this.#startBatch();
  }

  #hasRoom({ packets, bytes, shares }: Waiting, application: number): boolean {
    const { batchPackets } = this.#limits;
    if (packets < batchPackets && bytes < batchBytes) return true;
    const own = shares.get(application) ?? { packets: 0, bytes: 0 };
    return (
      packets < 2 * batchPackets &&
      bytes < 2 * batchBytes &&
      own.packets < ownPart * batchPackets &&
      own.bytes < ownPart * batchBytes
    );
  }

  #startBatch(): Queued {
    const waiting = this.#monitor.open(this.#time.monotonic());
    const batch = new Batch(this.#arrays);
    const queued: Queued = { batch, waiting, isAwaited: false, next: undefined };
    this.#newest = batch.durable;
    const last = this.#queue.at(-1);
    if (last !== undefined) last.next = queued;
    this.#queue.push(queued);
    this.#endDelay(); // A batch before this one is full.
    return queued;
  }

  async #drain(): Promise<void> {
    // What else this turn of the event loop has read joins the first batch, until that has enough.
    await new Promise<void>((resolve) => {
      this.#sendFirst = resolve;
      setImmediate(resolve);
    });
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#limits.commitDelay > 0) await this.#delay(next);
      this.#queue.shift();
      await this.#send(next);
    }
    this.#draining = undefined;
  }

  /** Waits for more packets to join a batch, counted from its first one. */
  async #delay({ batch, waiting, isAwaited }: Queued): Promise<void> {
    const { commitDelay, commitSiblings } = this.#limits;
    const ms = waiting.since + commitDelay - this.#time.monotonic();
    if (ms <= 0 || batch.packets >= commitSiblings || this.#queue.length > 1 || isAwaited) return;
    await new Promise<void>((resolve) => {
      this.#endDelay = resolve;
      this.#time.after(ms, resolve);
    });
  }

  async #send(queued: Queued): Promise<void> {
    const { batch, waiting } = queued;
    for (const application of waiting.shares.keys()) {
      if (this.#lastOf.get(application) === queued) this.#lastOf.delete(application);
    }
    this.#monitor.begin(waiting);
    const began = this.#time.monotonic();
    const riding = this.ledger.take();
    try {
      await this.#committer.commit(batch.seal(this.#unkept, riding.lines()));
      this.#unkept = nothingUnkept;
      this.#monitor.leave(waiting);
      this.#listener.committed(batch.packets, this.#time.monotonic() - began);
      batch.settle.kept();
    } catch (error) {
      const { series, senders } = this.#unkept;
      this.#unkept = { series: [...series, ...batch.series], senders: [...senders, ...batch.senders] };
      this.ledger.giveBack(riding);
      this.#monitor.leave(waiting);
      this.#listener.failed(error);
      batch.settle.refused(new ApiError('store_unavailable', storeUnavailable.dataNotKept, 5));
    } finally {
      batch.release();
    }
  }
}
