import { postgresAway } from '../contract/errors.ts';

interface OwnProgress {
  readonly acknowledged: number;
  /** Packets acknowledged before `through` (Unix ms) are in the deltas up to `throughSeq`. */
  readonly through: number;
  readonly throughSeq: number;
}

interface FollowProgress {
  /** True if the replica has everything that PostgreSQL last reported. */
  readonly isAtEnd: boolean;
  /** True if the replica was loaded from a snapshot, or emptied. */
  readonly isLoaded: boolean;
  /** The time up to which that state is complete: see `shown`. */
  readonly through: number;
}

/** The time through which a replica is complete. Reports are refused while it is unknown. */
export class Completeness {
  /** Everything that this node acknowledged before this time (Unix ms) was in the log at the last heartbeat. */
  ownThrough = 0;
  #ownSeq = 0;
  /** Everything that any node acknowledged before this time (Unix ms) is applied. */
  through = 0;
  #isKnown = false;
  #isShippingAgain = false;

  /** `undefined` if the replica might have lost data, or has not reached the end of the log yet. */
  get known(): number | undefined {
    return this.#isKnown ? this.through : undefined;
  }

  asked({ acknowledged, through, throughSeq }: OwnProgress): void {
    // PostgreSQL has less than before: it reverted to an earlier state.
    this.#isShippingAgain = acknowledged < this.#ownSeq;
    if (acknowledged < throughSeq) return;
    this.ownThrough = through;
    this.#ownSeq = throughSeq;
  }

  /**
   * Returns the time before which everything acknowledged is in the log, as of the last heartbeat. Call it before
   * applying the log, because another heartbeat can come while the log is applied.
   * @param othersThrough the same time of the other streams; `undefined` if there are none
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
  /** All that this node acknowledged before this time (Unix ms) is applied, with all that others had shipped. */
  readonly ownThrough: number;
  /** See `Completeness.known`. */
  readonly completeThrough: number | undefined;
  readonly position: number;
}

interface PendingRequest {
  readonly isReport: boolean;
  readonly has: (progress: Progress) => boolean;
  /** Time limit of the request, monotonic, ms. */
  readonly until: number;
  readonly done: (completeThrough: number) => void;
  readonly refused: (error: Error) => void;
}

/** Time that a report waits for this node's own counts. After that, it states the time through which it is complete. */
const patienceMs = 1000;
/** Time within which an entry of this node is applied. After that, its sender is asked to retry. */
const entryMs = 5000;

/** Requests that wait for the progress of the replica. */
export class RequestQueue {
  #waiting: PendingRequest[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Resolves when the replica has everything that this node acknowledged until now, with the time through which it is complete.
   * @param now PostgreSQL's time, Unix ms @param at monotonic time
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

  /** Resolves the requests whose condition holds, or whose time is over. */
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

  /** Refuses reports, because PostgreSQL is away. Entries already in the log can still be applied in time. */
  fail(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ isReport }) => !isReport);
    for (const { isReport, refused } of waiting) if (isReport) refused(postgresAway());
  }
}
