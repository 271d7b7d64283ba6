import type { Mark } from '../storage/lmdb/spool.ts';

/** A step of the spool worker: some of the open delta is sealed, and what the engine has is noted. */
export interface SealTask {
  /**
   * The time, the position that the node has applied and the version of its accounts, read *before* the lane was waited for (see
   * `Lane.settled`): what is not committed when the step begins was admitted after the mark.
   */
  readonly mark: Mark;
  /** Deltas that the engine has, each with those before it: `at` is when that was confirmed (Unix ms). */
  readonly acknowledged?: readonly { readonly stream: string; readonly seq: number; readonly at: number }[];
  /**
   * Deltas that were acknowledged before this time (Unix ms) are removed, some in each step; when half of the spool is used,
   * whatever was acknowledged. Without it nothing is removed.
   */
  readonly removeBefore?: number | undefined;
  /** Earlier streams that the engine takes nothing more of. What they hold beyond goes on as other streams. */
  readonly closed?: readonly ClosedStream[];
  /** Earlier streams of which the engine has all, and knows that no more will come. */
  readonly finished?: readonly string[];
  /** Seals nothing; the rest is done. */
  readonly onlyNote?: boolean;
}

/** A step as the thread of the replica asks for it: the main thread knows the version of the accounts. */
export type SealRequest = Omit<SealTask, 'mark'> & { readonly mark: Omit<Mark, 'version'> };

export interface SealOutcome {
  /** The last delta of the stream that is being counted in. */
  readonly sealed: number;
  /** What was admitted before is in deltas. It moves when a round is over: with the first step of a round, its mark is set. */
  readonly mark: Mark;
  /** Whether the round is over. Until then the next step goes on with it, whatever its own mark is. */
  readonly done: boolean;
}

/** A stream that nothing is added to any more, in the engine or here. */
export interface ClosedStream {
  readonly stream: string;
  /** The last delta that the engine has. Those after it are certainly not in its log. */
  readonly after: number;
}
