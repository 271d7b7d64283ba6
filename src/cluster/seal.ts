import type { Mark } from '../store/spool.ts';

/** A step of the spool worker: some of the open delta is sealed, and what the engine has is noted. */
export interface SealTask {
  /**
   * The time, the position that the node has applied and the version of its accounts, read *before* the lane was waited for (see
   * `Lane.settled`): what is not committed when the step begins was admitted after the mark.
   */
  readonly mark: Mark;
  /** Deltas that the engine has, each with those before it: `at` is when that was confirmed (Unix ms). */
  readonly acknowledged?: readonly Acknowledged[];
  /** Deltas that were acknowledged before this time (Unix ms) are removed, some in each step. */
  readonly removeBefore?: number;
  /** Streams of old copies, which are kept and never shipped. */
  readonly aside?: readonly string[];
  /** Seals nothing; the rest is done. */
  readonly onlyNote?: true;
}

export interface Acknowledged {
  readonly stream: string;
  readonly seq: number;
  readonly at: number;
}

export interface SealOutcome {
  /** The stream that is being counted in, and its last delta that was sealed. */
  readonly stream: string;
  readonly sealed: number;
  /** Whether the round is over: all that was admitted before the mark of its first step is in deltas. */
  readonly done: boolean;
  /** Bytes of the bodies that this step has sealed. */
  readonly bytes: number;
}
