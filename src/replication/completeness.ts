/** What a node knows of its own stream: the last delta that the engine has, and up to where that delta and those before it go. */
export interface OwnProgress {
  readonly acknowledged: number;
  /** What was answered before `through` (Unix ms) is in the deltas up to `throughSeq`. */
  readonly through: number;
  readonly throughSeq: number;
}

/** What a round of following has come to. */
export interface FollowProgress {
  /** The replica has all that the engine had shown before. */
  readonly isAtEnd: boolean;
  /** The replica was emptied, and filled anew. */
  readonly isLoaded: boolean;
  /** Up to when that is complete: see `shown`. */
  readonly through: number;
}

/** Until when a replica is complete. Reports say so, and are refused while it is not known. */
export class Completeness {
  /** Up to where all that this node has answered was in the log when the engine was last asked, Unix ms. */
  ownThrough = 0;
  #ownSeq = 0;
  /** All that any node has answered before this time was applied, Unix ms. */
  through = 0;
  #isKnown = false;
  #isShippingAgain = false;

  /** `undefined` while the replica may lack what it had, or has never been at the end of the log. */
  get known(): number | undefined {
    return this.#isKnown ? this.through : undefined;
  }

  /** Notes what the engine has of the node's own stream. */
  asked({ acknowledged, through, throughSeq }: OwnProgress): void {
    // The engine went back when it has less than it had.
    this.#isShippingAgain = acknowledged < this.#ownSeq;
    if (acknowledged < throughSeq) return;
    this.ownThrough = through;
    this.#ownSeq = throughSeq;
  }

  /**
   * All that any node has answered before this time is in the log that the engine has just shown. It is to be asked before
   * that is applied: meanwhile the engine may be asked again.
   * @param othersThrough the same of the other streams; `undefined` without any
   */
  shown(othersThrough = Number.POSITIVE_INFINITY): number {
    return Math.min(this.ownThrough, othersThrough);
  }

  /** Notes how far the replica is. */
  followed({ isAtEnd, isLoaded, through }: FollowProgress): void {
    if (isLoaded || this.#isShippingAgain) this.#isKnown = false;
    if (!isAtEnd || this.#isShippingAgain) return;
    this.through = through;
    this.#isKnown = true;
  }
}
