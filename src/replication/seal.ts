import type { Mark } from '../storage/lmdb/spool.ts';

/** A step of the spool worker: seals some of the open delta, and notes what PostgreSQL has. */
export interface SealTask {
  /**
   * Time and state read *before* waiting for the lane (see `Lane.settled`): packets not committed when the step begins were admitted
   * after the mark.
   */
  readonly mark: Mark;
  /** Deltas that PostgreSQL has, each with those before it. `at` is the time of confirmation (Unix ms). */
  readonly acknowledged?: readonly { readonly stream: string; readonly seq: number; readonly at: number }[];
  /** Removes some deltas acknowledged before this time (Unix ms). Without it, nothing is removed. */
  readonly removeBefore?: number | undefined;
  /** Earlier streams that were closed. The rest of them moves to other streams. */
  readonly closed?: readonly ClosedStream[];
  /** Earlier streams that PostgreSQL has completely, and has marked as done. */
  readonly finished?: readonly string[];
  /** Seals nothing, and does the rest. */
  readonly onlyNote?: boolean;
}

/** A step as the replica's thread requests it. The main thread adds the version of the accounts. */
export type SealRequest = Omit<SealTask, 'mark'> & { readonly mark: Omit<Mark, 'version'> };

export interface SealOutcome {
  /** The last delta of the current stream. */
  readonly sealed: number;
  /** Packets admitted before it are in deltas. At the end of a round, it becomes the mark of the round's first step. */
  readonly mark: Mark;
  /** Whether the round is over. If not, the next step continues it, and its own mark has no effect. */
  readonly done: boolean;
  /** The store of this node cannot take data, for example because its disk is full. */
  readonly storeFails?: boolean;
}

/** A stream that takes no more deltas. */
export interface ClosedStream {
  readonly stream: string;
  /** The last delta in PostgreSQL. Those after it are certainly not in its log. */
  readonly after: number;
}
