import type { Histogram } from '../../runtime/histogram.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import { journalFailed } from '../journal/errors.ts';
import { type Envelope, encodeEnvelope } from './envelope.ts';
import { FrameSlot, JournalState, type ProducerMemory } from './journal-memory.ts';

/** Makes the batches of a lane (a queue of commits) durable: see lane.ts. */
export interface Committer {
  /**
   * Resolves when the batch is durable. Do not change the envelope's arrays until then.
   * @throws {CommitError} if no part of the batch was stored
   */
  commit(envelope: Envelope): Promise<void>;
  /**
   * Does one small step of upkeep. Returns the amount of work done: 0 if no work is left.
   * @throws {CommitError} if no part of the step was stored
   */
  maintain(step: Maintenance): Promise<number>;
  /** Settles the commits that other threads have finished, without waiting for the event loop. */
  collect(): void;
  /** Time that calls waited for the journal's thread, in seconds. */
  readonly delays?: Histogram;
  /** The memory for each other thread that commits to the same journal through a `ProducerCommitter`. */
  readonly producers?: readonly ProducerMemory[];
  readonly journal?: JournalFigures;
  /** Adds all durable data to the store, unless the disk failed, and stops the threads. */
  close(): Promise<void>;
}

export interface JournalFigures {
  /** Journal data that is not completely in the store. Each packet reads this property, so reads must be fast. */
  readonly unfolded: { readonly frames: number; readonly bytes: number };
  /** Time that calls waited for the folding thread, in seconds. */
  readonly foldDelays: Histogram;
  /** Durations of folds, in seconds. */
  readonly foldTimes: Histogram;
  readonly failedFolds: number;
  /** A message for people about the current failure; `undefined` after the next success. */
  readonly trouble: string | undefined;
  readonly replay: { readonly frames: number; readonly seconds: number };
}

/**
 * The disk rejected a batch, or the store rejected a step. `code` is the error code of the system or of LMDB, if any.
 */
export class CommitError extends Error {
  override readonly name = 'CommitError';
  readonly code: unknown;
  /** True if every later commit will fail, even with free disk space. */
  readonly isFinal: boolean;

  constructor(message: string, code: unknown) {
    super(message);
    this.code = code;
    this.isFinal = code === journalFailed;
  }
}

/**
 * Commits the batches of one thread to a journal that several threads share. The journal's thread writes all waiting
 * batches with one flush.
 */
export class ProducerCommitter implements Committer {
  readonly #slot: FrameSlot;
  readonly #state: JournalState;
  readonly #bell: Int32Array;
  readonly #bellAt: number;
  #settledFrames = 0;
  #settle = () => {};
  /** The commit in flight, or the last commit. */
  #current: Promise<unknown> = Promise.resolve();

  constructor({ slot, state, bell, bellAt }: ProducerMemory) {
    this.#slot = new FrameSlot(slot);
    this.#state = new JournalState(state);
    this.#bell = bell;
    this.#bellAt = bellAt;
  }

  /** Commits as `Committer.commit` does. Only one commit can be in flight. */
  async commit(envelope: Envelope): Promise<void> {
    this.#slot.put(encodeEnvelope(envelope));
    await this.#awaitSlot();
    const { failure } = this.#slot;
    if (failure !== undefined) throw new CommitError(failure.message, failure.code);
  }

  /** Does nothing: upkeep belongs to the thread that owns the journal. */
  async maintain(): Promise<number> {
    return 0;
  }

  /** Settles the commit if its result has arrived. If not, a call only reads one word of shared memory. */
  collect(): void {
    const { settled } = this.#slot;
    if (settled === this.#settledFrames) return;
    this.#settledFrames = settled;
    this.#settle();
  }

  /** Number of bytes of the journal that are not folded. Reading the number takes a few nanoseconds. */
  get unfoldedBytes(): number {
    return this.#state.unfoldedBytes;
  }

  /** Resolves when the commit in flight is settled. The journal stays open for the other threads. */
  async close(): Promise<void> {
    await this.#current;
  }

  #awaitSlot(): Promise<void> {
    const response = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
    this.#current = response;
    void this.#slot.next(this.#settledFrames).then(() => this.collect());
    if (!this.#slot.ring(this.#bell, this.#bellAt)) this.#settle();
    return response;
  }
}
