import { postgresAway } from '../contract/errors.ts';

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

/** How far the replica is. */
export interface Progress {
  /** All that this node has answered before this time (Unix ms) is applied, with all that others had shipped. */
  readonly ownThrough: number;
  /** All that any node has answered before this time (Unix ms) is applied; `undefined` until the log was applied to its end once. */
  readonly completeThrough: number | undefined;
  readonly position: number;
}

interface Waiting {
  readonly isReport: boolean;
  readonly has: (progress: Progress) => boolean;
  /** By the clock for ages. */
  readonly until: number;
  readonly done: (completeThrough: number) => void;
  readonly refused: (error: Error) => void;
}

/** A report waits this long for what this node has counted; then it says until when it is complete. */
const patienceMs = 1000;
/** An entry that this node has appended is applied within this time, or its sender is told to try again. */
const entryMs = 5000;

/** Those who wait until the replica has something. */
export class Awaited {
  #waiting: Waiting[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Resolves with until when the replica is complete, when it has what this node has answered until now.
   * @param now by the engine's clock, Unix ms @param at by the clock for ages
   */
  report(now: number, at: number): Promise<number> {
    return this.#wait({ isReport: true, has: ({ ownThrough }) => ownThrough >= now, until: at + patienceMs });
  }

  /** Resolves when an entry of the log is applied. */
  async entry(entry: number, at: number): Promise<void> {
    await this.#wait({ isReport: false, has: ({ position }) => position >= entry, until: at + entryMs });
  }

  #wait(what: Pick<Waiting, 'isReport' | 'has' | 'until'>): Promise<number> {
    return new Promise((done, refused) => void this.#waiting.push({ ...what, done, refused }));
  }

  /** Answers those who have what they wait for, or have waited long enough. */
  progress(progress: Progress, at: number): void {
    const { completeThrough } = progress;
    this.#waiting = this.#waiting.filter(({ isReport, has, until, done, refused }) => {
      const isThere = has(progress);
      if (!isThere && at < until) return true;
      // A node that has just started may not have any of it.
      if (isReport ? completeThrough !== undefined : isThere) done(completeThrough ?? 0);
      else refused(postgresAway());
      return false;
    });
  }

  /** The engine cannot be asked: reports are not made. Entries that are in the log may still be applied in time. */
  fail(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ isReport }) => !isReport);
    for (const { isReport, refused } of waiting) if (isReport) refused(postgresAway());
  }
}
