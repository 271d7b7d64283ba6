import { postgresAway } from '../contract/errors.ts';

interface OwnProgress {
  readonly acknowledged: number;
  /** Packets acknowledged before `through` (Unix ms) are in the deltas up to number `throughSeq`. */
  readonly through: number;
  readonly throughSeq: number;
}

interface FollowProgress {
  /** True if the replica has applied the log up to the end that PostgreSQL last reported. */
  readonly isAtEnd: boolean;
  /** True if the replica was loaded from a snapshot, or emptied. */
  readonly isLoaded: boolean;
  /** The value of `Completeness.shown` before the log was applied. */
  readonly through: number;
}

/** Tracks the time through which a replica has all counts. While the time is unknown, reports are refused. */
export class Completeness {
  /** Everything that this node acknowledged before this time (Unix ms) was in the log at the last heartbeat. */
  ownThrough = 0;
  #ownSeq = 0;
  /** Everything that any node acknowledged before this time (Unix ms) is applied. */
  through = 0;
  #isKnown = false;
  #isShippingAgain = false;

  /** Value of `through`; `undefined` if the replica might have lost data, or has not reached the end of the log yet. */
  get known(): number | undefined {
    return this.#isKnown ? this.through : undefined;
  }

  asked({ acknowledged, through, throughSeq }: OwnProgress): void {
    // If PostgreSQL has fewer deltas than before, it has reverted to an earlier state.
    this.#isShippingAgain = acknowledged < this.#ownSeq;
    if (acknowledged < throughSeq) return;
    this.ownThrough = through;
    this.#ownSeq = throughSeq;
  }

  /**
   * Returns the time before which all acknowledged packets are in the log, according to the last heartbeat. Call it
   * before applying the log, because a heartbeat during the application refers to later entries.
   * @param othersThrough the same time for the other streams; `undefined` without other streams
   */
  shown(othersThrough = Number.POSITIVE_INFINITY): number {
    return Math.min(this.ownThrough, othersThrough);
  }

  followed({ isAtEnd, isLoaded, through }: FollowProgress): void {
    if (isLoaded || this.#isShippingAgain) this.#isKnown = false;
    if (!isAtEnd || this.#isShippingAgain) return;
    this.through = through;
    this.#isKnown = true;
  }
}

export interface Progress {
  /** Time (Unix ms) before which the replica has all packets that this node acknowledged or other nodes had shipped. */
  readonly ownThrough: number;
  /** See `Completeness.known`. */
  readonly completeThrough: number | undefined;
  readonly position: number;
}

interface PendingRequest {
  readonly isReport: boolean;
  readonly has: (progress: Progress) => boolean;
  /** Deadline of the request on the monotonic clock, ms. */
  readonly until: number;
  readonly done: (completeThrough: number) => void;
  readonly refused: (error: Error) => void;
}

/** Maximum time that a report waits for the counts of this node. After that, the report states how complete it is. */
const patienceMs = 1000;
/** Maximum time that a request waits until its entry is applied. After that, the response asks to retry. */
const entryMs = 5000;

/** Requests that wait for the progress of the replica. */
export class RequestQueue {
  #waiting: PendingRequest[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Resolves when the replica has all packets that this node has acknowledged. The result is the time through which the
   * replica is complete.
   * @param now PostgreSQL's time, Unix ms
   * @param at monotonic time
   */
  report(now: number, at: number): Promise<number> {
    return this.#wait({ isReport: true, has: ({ ownThrough }) => ownThrough >= now, until: at + patienceMs });
  }

  async entry(entry: number, at: number): Promise<void> {
    await this.#wait({ isReport: false, has: ({ position }) => position >= entry, until: at + entryMs });
  }

  #wait(what: Pick<PendingRequest, 'isReport' | 'has' | 'until'>): Promise<number> {
    return new Promise((done, refused) => void this.#waiting.push({ ...what, done, refused }));
  }

  /** Resolves the requests whose condition holds, or whose time limit has passed. */
  progress(progress: Progress, at: number): void {
    const { completeThrough } = progress;
    this.#waiting = this.#waiting.filter(({ isReport, has, until, done, refused }) => {
      const isThere = has(progress);
      if (!isThere && at < until) return true;
      if (isReport ? completeThrough !== undefined : isThere) done(completeThrough ?? 0);
      else refused(postgresAway());
      return false;
    });
  }

  /** Refuses waiting reports, because PostgreSQL is unavailable. Requests that wait for an entry continue. */
  fail(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ isReport }) => !isReport);
    for (const { isReport, refused } of waiting) if (isReport) refused(postgresAway());
  }
}
