/*
 * src/storage/commit: collects packets into one commit, and writes the commit to the store.
 *
 * On the service's thread, an Intake has a Lane for each worker. lane.submit fills the open Batch, which has a buffer
 * for each kind of record (records.ts). When the disk is free, the lane seals the batch into an Envelope and passes it
 * to its Committer (journaled-committer.ts). The journal's thread (journal-worker.ts) appends the envelope as one
 * frame. When the frame is on disk, the batch's promise resolves for all its senders. About once a second another
 * thread (fold-worker.ts) folds the new frames (fold.ts): the Aggregator writes the frames to the usage store in one
 * transaction, Section by Section.
 */

import { Refusal, storeUnavailable } from '../../contract/errors.ts';
import type { TimerClock } from '../../runtime/clock.ts';
import { currentSpan, inChildSpan } from '../../runtime/spans.ts';
import type { NewSeries } from '../lmdb/series.ts';
import { Batch, LedgerTotals, nothingUnkept } from './batch.ts';
import type { Committer } from './committer.ts';
import { DelayTrial } from './delay-trial.ts';
import type { QueueMonitor, WaitingBatch } from './queue-monitor.ts';
import { RecordArrays } from './record-buffer.ts';

interface CommitListener {
  committed(packets: number, ms: number): void;
  failed(error: unknown): void;
  /** Takes the new series of a commit, before the senders of the packets get responses. */
  durable?(series: readonly NewSeries[]): void;
}

export interface LaneLimits {
  readonly batchPackets: number;
  readonly commitDelay: number;
  readonly commitSiblings: number;
}

export type LaneTime = Pick<TimerClock, 'monotonic' | 'after'>;

interface QueuedBatch {
  readonly batch: Batch;
  readonly waiting: WaitingBatch;
  /** True if a barrier waits for the batch. The batch is then not delayed. */
  isAwaited: boolean;
  /** The batch to commit after this batch. */
  next: QueuedBatch | undefined;
}

/**
 * Approximate memory for the records of one commit: 13 000 records, which a worker adds up in a few milliseconds.
 * Larger commits are not cheaper per record, and later packets would wait longer.
 */
const batchBytes = 512 * 1024;

/** A full batch takes further packets of an application until the application has this fraction of a batch. */
const ownShare = 1 / 8;

/** Memory of a waiting packet for its request and the promise of its response, in addition to its records. */
const packetBytes = 1024;

/**
 * The first batch after a pause is committed as soon as it has this number of packets. Otherwise the disk would be idle
 * while an iteration of the event loop reads hundreds of packets, which takes milliseconds.
 */
const enoughPackets = 128;

/**
 * The queue of one aggregate worker, with group commit: the next batch fills while a commit is in flight. The speed of
 * the disk thus determines the size of the batches. With `--commit-delay`, a commit is also delayed as long as delays
 * are useful: see `DelayTrial`.
 */
export class Lane {
  readonly #committer: Committer;
  readonly #monitor: QueueMonitor;
  readonly #time: LaneTime;
  readonly #limits: LaneLimits;
  readonly #listener: CommitListener;
  #queue: QueuedBatch[] = [];
  /** The batch of the last packet of each application. Removed when the commit of the batch starts. */
  readonly #lastByApplication = new Map<number, QueuedBatch>();
  #draining: Promise<void> | undefined;
  /** The promise of the newest batch. */
  #newest: Promise<void> = Promise.resolve();
  /** Commits the first batch after a pause, without waiting for more packets. */
  #sendFirst: () => void = () => {};
  #endDelay: () => void = () => {};
  /** Entries of failed batches to which later batches refer. The next batch includes these entries. */
  #unkept = nothingUnkept;
  readonly #arrays = new RecordArrays();
  readonly #trial = new DelayTrial();
  /** Ledger counts of messages in no batch, such as refused packets. The next batch includes them. */
  readonly ledger = new LedgerTotals();

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
   * Adds a packet to the next batch that has space for its application. An application that has filled a batch
   * continues in later batches, while other applications can still join the first batch.
   * @param fill adds all of the packet before it returns, so that a packet is never split
   * @param bytes memory of the packet, in addition to its records in the batch
   * @throws {Refusal} `store_unavailable` (through the promise): no part of the packet was stored
   */
  submit(application: number, fill: (batch: Batch) => void, bytes = 0): Promise<void> {
    const batch = this.#fill(application, fill, bytes);
    batch.packets += 1;
    if (batch.packets === enoughPackets) this.#sendFirst();
    if (batch.packets === this.#limits.commitSiblings) this.#endDelay();
    return batch.durable;
  }

  /**
   * Adds the first chunk of a message that is too large for one batch. The chunk has names and users, which can be
   * stored separately. It joins the batch of the message or an earlier batch.
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
    this.#monitor.join(waiting, application, held, this.#time);
    this.#lastByApplication.set(application, queued);
    return batch;
  }

  /**
   * Waits until all earlier packets of an application, and their ledger counts, are on disk.
   * @throws {Refusal} if a batch failed. Some packets can still be written later
   */
  async barrier(application: number): Promise<void> {
    await this.#nextCommit(application);
    // The ledger counts of a batch are added only after its commit, so the next batch is awaited as well.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#nextCommit(application);
  }

  flushLedger(): void {
    if (this.ledger.size === 0 || this.#draining !== undefined) return;
    this.#startBatch();
    this.#draining = this.#drain();
  }

  settled(): Promise<void> {
    return this.#newest.catch(() => {}); // Batches are committed in the order of their creation.
  }

  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  #nextCommit(application: number): Promise<void> {
    const queued = this.#lastByApplication.get(application) ?? this.#queue[0] ?? this.#startBatch();
    queued.isAwaited = true;
    this.#endDelay();
    this.#draining ??= this.#drain();
    return queued.batch.durable;
  }

  #batchFor(application: number): QueuedBatch {
    let queued = this.#lastByApplication.get(application) ?? this.#queue[0];
    while (queued !== undefined && !this.#hasRoom(queued.waiting, application)) queued = queued.next;
    return queued ?? this.#startBatch();
  }

  #hasRoom({ packets, bytes, shares }: WaitingBatch, application: number): boolean {
    const { batchPackets } = this.#limits;
    if (packets < batchPackets && bytes < batchBytes) return true;
    const own = shares.get(application) ?? { packets: 0, bytes: 0 };
    return (
      packets < 2 * batchPackets &&
      bytes < 2 * batchBytes &&
      own.packets < ownShare * batchPackets &&
      own.bytes < ownShare * batchBytes
    );
  }

  #startBatch(): QueuedBatch {
    const waiting = this.#monitor.open(this.#time.monotonic());
    const batch = new Batch(this.#arrays);
    const queued: QueuedBatch = { batch, waiting, isAwaited: false, next: undefined };
    this.#newest = batch.durable;
    const last = this.#queue.at(-1);
    if (last !== undefined) last.next = queued;
    this.#queue.push(queued);
    this.#endDelay(); // The previous batch is full, so its delay ends.
    return queued;
  }

  async #drain(): Promise<void> {
    // Waits, so that other packets of this event loop iteration join the first batch, up to its limit.
    await new Promise<void>((resolve) => {
      this.#sendFirst = resolve;
      setImmediate(resolve);
    });
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (this.#limits.commitDelay > 0 && this.#trial.isDelayed) await this.#delay(next);
      this.#queue.shift();
      await this.#send(next);
    }
    this.#draining = undefined;
  }

  /** Waits for more packets to join a batch. The wait begins with the first packet of the batch. */
  async #delay({ batch, waiting, isAwaited }: QueuedBatch): Promise<void> {
    const { commitDelay, commitSiblings } = this.#limits;
    const ms = waiting.since + commitDelay - this.#time.monotonic();
    if (ms <= 0 || batch.packets >= commitSiblings || this.#queue.length > 1 || isAwaited) return;
    await new Promise<void>((resolve) => {
      this.#endDelay = resolve;
      this.#time.after(Math.ceil(ms), resolve); // Bun ignores the fraction of a millisecond.
    });
  }

  async #send(queued: QueuedBatch): Promise<void> {
    const { batch, waiting } = queued;
    for (const application of waiting.shares.keys()) {
      if (this.#lastByApplication.get(application) === queued) this.#lastByApplication.delete(application);
    }
    this.#monitor.begin(waiting);
    const began = this.#time.monotonic();
    const riding = this.ledger.take();
    try {
      const envelope = batch.seal(this.#unkept, riding.lines());
      await this.#committer.commit(envelope);
      if (envelope.series.length > 0) this.#listener.durable?.(envelope.series);
      this.#unkept = nothingUnkept;
      this.#monitor.leave(waiting);
      const now = this.#time.monotonic();
      this.#trial.committed(batch.packets, now);
      this.#listener.committed(batch.packets, now - began);
      batch.settle.kept();
    } catch (error) {
      const { series, senders } = this.#unkept;
      this.#unkept = { series: [...series, ...batch.series], senders: [...senders, ...batch.senders] };
      this.ledger.giveBack(riding);
      this.#monitor.leave(waiting);
      this.#listener.failed(error);
      batch.settle.refused(new Refusal('store_unavailable', storeUnavailable.dataNotKept, 5));
    } finally {
      batch.release();
    }
  }
}

export function tracedLane(lane: Lane): Pick<Lane, 'submit' | 'addBefore' | 'settled'> {
  const span = currentSpan();
  if (span === undefined) return lane;
  return {
    submit: (...packet) => inChildSpan(span, 'wait for commit', () => lane.submit(...packet)),
    addBefore: (...message) => inChildSpan(span, 'wait for commit', () => lane.addBefore(...message)),
    settled: () => lane.settled(),
  };
}
