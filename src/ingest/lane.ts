import type { QueueMonitor, Waiting } from '../admission/queue-monitor.ts';
import type { Committer } from '../aggregate/committer.ts';
import type { Clock } from '../clock.ts';
import { Refusal } from '../errors.ts';
import type { NewSeries } from '../store/series.ts';
import { Batch } from './batch.ts';
import { LedgerTallies } from './ledger-tallies.ts';
import { RecordArrays } from './record-arrays.ts';

/** Hears how commits end. */
export interface CommitListener {
  /** @param ms that the commit took */
  committed(packets: number, ms: number): void;
  failed(error: unknown): void;
}

interface Queued {
  readonly batch: Batch;
  readonly waiting: Waiting;
}

/**
 * Packets with which a first batch sets off. A turn of the event loop may read hundreds of them and take milliseconds:
 * the disk would be idle meanwhile, and the senders afterwards.
 */
const enoughPackets = 128;

/**
 * The way to one aggregate worker. While a commit is in flight the next batch fills (group commit): the disk sets the
 * size of the batches, no timer does.
 */
export class Lane {
  private readonly committer: Committer;
  private readonly monitor: QueueMonitor;
  private readonly clock: Clock;
  private readonly batchPackets: number;
  private readonly listener: CommitListener;
  private queue: Queued[] = [];
  private filling: Queued | undefined;
  private draining: Promise<void> | undefined;
  /** Ends the wait of the first batch after a pause. */
  private sendFirst: () => void = () => {};
  /** Series of batches that were not kept: later batches refer to them, so they go with the next one. */
  private unkept: NewSeries[] = [];
  private readonly arrays = new RecordArrays();
  /** What the ledger says of packets that are in no batch: it goes with the next one. */
  readonly ledger = new LedgerTallies();

  constructor(
    committer: Committer,
    monitor: QueueMonitor,
    clock: Clock,
    batchPackets: number,
    listener: CommitListener,
  ) {
    this.committer = committer;
    this.monitor = monitor;
    this.clock = clock;
    this.batchPackets = batchPackets;
    this.listener = listener;
  }

  /**
   * The batch that takes the next packet, of `bytes`. The caller adds all of the packet before it awaits anything,
   * so a packet is never split.
   */
  join(bytes: number): Batch {
    if (this.filling === undefined || this.filling.batch.packets >= this.batchPackets) this.startBatch();
    const { batch, waiting } = this.filling!;
    batch.packets += 1;
    this.monitor.join(waiting, bytes);
    this.draining ??= this.drain();
    if (batch.packets === enoughPackets) this.sendFirst();
    return batch;
  }

  /** Sends what waits for the ledger on its way, when no batch is about to take it along. */
  flushLedger(): void {
    if (this.ledger.size === 0 || this.draining !== undefined) return;
    this.startBatch();
    this.draining = this.drain();
  }

  /**
   * Resolves when all that was joined before, and what the ledger says of it, is on disk or was refused.
   * @throws {Refusal} `store_unavailable`: then some of it may still go with a later batch
   */
  async settled(): Promise<void> {
    await this.join(0).durable;
    // Whoever waited for the same batch tells the ledger of it before the next turn, so that goes with the next batch.
    await new Promise((resolve) => setImmediate(resolve));
    await this.join(0).durable;
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.draining !== undefined) await this.draining;
  }

  private startBatch(): void {
    this.filling = { batch: new Batch(this.arrays), waiting: this.monitor.open(this.clock.monotonic()) };
    this.queue.push(this.filling);
  }

  private async drain(): Promise<void> {
    // What else this turn of the event loop has read joins the first batch, until that has enough.
    await new Promise<void>((resolve) => {
      this.sendFirst = resolve;
      setImmediate(resolve);
    });
    for (let next = this.queue.shift(); next !== undefined; next = this.queue.shift()) {
      if (next === this.filling) this.filling = undefined;
      await this.commit(next);
    }
    this.draining = undefined;
  }

  private async commit({ batch, waiting }: Queued): Promise<void> {
    this.monitor.begin(waiting);
    const began = this.clock.monotonic();
    const riding = this.ledger.take();
    const envelope = batch.envelope(this.unkept, riding.lines());
    try {
      await this.committer.commit(envelope);
      this.unkept = [];
      this.monitor.leave(waiting);
      this.listener.committed(batch.packets, this.clock.monotonic() - began);
      batch.settle.kept();
    } catch (error) {
      this.unkept = [...envelope.series];
      this.ledger.giveBack(riding);
      this.monitor.leave(waiting);
      this.listener.failed(error);
      batch.settle.refused(
        new Refusal('store_unavailable', 'The store did not take the data; nothing of it was kept', 5),
      );
    } finally {
      batch.release();
    }
  }
}
