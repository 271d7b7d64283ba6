import type { NodeDeps } from './node-deps.ts';
import type { SealRequest, SealResult } from './seal.ts';
import type { Streams } from './streams.ts';

/** Interval between rounds of sealing. With a longer interval, fewer deltas contain a count that changes often. */
const everyMs = 1000;
/** Maximum number of deltas that wait for PostgreSQL. Later counts stay in the open delta, where they are merged. */
const maxAhead = 32;
/** Time that a delta is kept after PostgreSQL has confirmed it. */
const keepMs = 3_600_000;

/** Schedules the sealing of counts into deltas, in rounds of several steps. */
export class SealPacer {
  readonly #deps: NodeDeps;
  readonly #streams: Streams;
  #isAsked = false;
  #began = Number.NEGATIVE_INFINITY;
  #failed: string | undefined;
  isUnderWay = false;
  /** See `SealResult`. */
  storeFails = false;
  /**
   * Result of the last round. Packets acknowledged before `watermark.at` (PostgreSQL's clock, Unix ms) are in the
   * deltas up to `sealed`.
   */
  last: Pick<SealResult, 'watermark' | 'sealed'> = { watermark: { at: 0, applied: 0, version: 0 }, sealed: -1 };

  constructor(deps: NodeDeps, streams: Streams) {
    this.#deps = deps;
    this.#streams = streams;
  }

  /** Requests an immediate round of sealing. */
  ask(): void {
    this.#isAsked = true;
  }

  get isDue(): boolean {
    if (this.#streams.own.waiting >= maxAhead) return false;
    return this.isUnderWay || this.#isAsked || this.nextInMs <= 0;
  }

  get nextInMs(): number {
    return this.#began + everyMs - this.#deps.clock.monotonic();
  }

  /** Seals until the round is over, or enough deltas wait for PostgreSQL. */
  async advance(confirmedAt: number | undefined): Promise<void> {
    try {
      while (this.isDue) await this.#step(confirmedAt);
      if (this.#failed !== undefined) this.#deps.log.info('deltas can be sealed again');
      this.#failed = undefined;
    } catch (error) {
      if (this.#failed === undefined) this.#deps.log.error('sealing failed; retrying each second', { error });
      this.#failed = (error as Error).message;
      this.storeFails = true;
      this.isUnderWay = false;
    }
  }

  /** Stores which deltas PostgreSQL has, and seals nothing. */
  async note(confirmedAt: number | undefined): Promise<void> {
    await this.#deps.main.seal(this.#request(confirmedAt, true));
  }

  async #step(confirmedAt: number | undefined): Promise<void> {
    if (!this.isUnderWay) {
      this.#isAsked = false;
      this.#began = this.#deps.clock.monotonic();
    }
    const result = await this.#deps.main.seal(this.#request(confirmedAt, false));
    this.#streams.update();
    this.isUnderWay = !result.done;
    this.storeFails = result.storeFails === true;
    if (result.done) this.last = result;
  }

  #request(confirmedAt: number | undefined, onlyNote: boolean): SealRequest {
    const { time, replica } = this.#deps;
    const { all } = this.#streams;
    const news = all.map((stream) => stream.news);
    const closed = all.filter(({ isOwn, held }) => held === 'closed' && !isOwn);
    // Deltas of a stream that is shipped again must stay, although the spool counts them as acknowledged.
    const isSure = confirmedAt !== undefined && all.every(({ isShipped }) => isShipped);
    return {
      watermark: { at: time.now(), applied: replica.applied.position },
      acknowledged: news.flatMap(({ acknowledged }) => acknowledged),
      finished: news.flatMap(({ finished }) => finished),
      closed: closed.map(({ stream, acknowledged }) => ({ stream, after: acknowledged })),
      removeBefore: isSure ? confirmedAt - keepMs : undefined,
      onlyNote,
    };
  }
}
