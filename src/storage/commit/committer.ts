import type { Histogram } from '../../runtime/histogram.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import { journalFailed } from '../journal/errors.ts';
import type { Envelope } from './envelope.ts';

/** What keeps the batches of a lane. */
export interface Committer {
  /**
   * Resolves when the batch is durable. The envelope's arrays must not change until then.
   * @throws {CommitFailed} when nothing of the batch was kept
   */
  commit(envelope: Envelope): Promise<void>;
  /**
   * Does one small step of upkeep; gives how much it did, 0 when nothing is left to do.
   * @throws {CommitFailed} when nothing of it was kept
   */
  maintain(step: Maintenance): Promise<number>;
  /** Settles the commits that the threads have finished, without waiting for the event loop to deliver its answers. */
  collect(): void;
  /** Time that calls waited for the journal's thread, seconds. */
  readonly delays?: Histogram;
  /** How the journal does, if there is one. */
  readonly journal?: JournalFigures;
  /** Ends the threads; what is durable is in the store then, unless the disk failed. */
  close(): Promise<void>;
}

/** How a journal and its folds do, for the metrics. */
export interface JournalFigures {
  /** What is on disk and not in the store, of people at least. */
  readonly unfolded: { readonly frames: number; readonly bytes: number };
  /** Time that calls waited for the folding thread, seconds. */
  readonly foldDelays: Histogram;
  /** Durations of folds, seconds. */
  readonly foldTimes: Histogram;
  readonly failedFolds: number;
  /** What fails, for people, from a failure to the next success. */
  readonly trouble: string | undefined;
  /** What the start has folded. */
  readonly replay: { readonly frames: number; readonly seconds: number };
}

/** The disk did not take a batch, or the store a step. `code` is the operating system's or LMDB's error number, if there is one. */
export class CommitFailed extends Error {
  override readonly name = 'CommitFailed';
  readonly code: unknown;
  /** Whether no later commit can succeed, whatever space there is on the disk. */
  readonly isFinal: boolean;

  constructor(message: string, code: unknown) {
    super(message);
    this.code = code;
    this.isFinal = code === journalFailed;
  }
}
