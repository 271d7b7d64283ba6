import type { Log } from '../log.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import type { Stream } from './streams.ts';
import type { ClosedStream } from './take-rest.ts';

/** What the spool worker is asked, by way of the main thread, which knows what was admitted. */
export interface SealRequest {
  /** When it is asked, by the engine's clock, Unix ms. */
  readonly at: number;
  /** The position that this node has applied. */
  readonly applied: number;
  /** Deltas that the engine has, each with those before it, and when that was learned (the engine's clock, Unix ms). */
  readonly acknowledged: readonly { readonly stream: string; readonly seq: number; readonly at: number }[];
  /** Deltas that were acknowledged before this time may go (the engine's clock, Unix ms). */
  readonly removeBefore: number | undefined;
  /** See `SealTask`. */
  readonly closed: readonly ClosedStream[];
  /** Streams of earlier processes of which the engine has all, and knows that no more will come. */
  readonly finished: readonly string[];
  /** Nothing is sealed. */
  readonly onlyNote: boolean;
}

export interface SealReply {
  /** The last delta of the stream of this process. */
  readonly sealed: number;
  /** All that was answered before the round began is in deltas. */
  readonly done: boolean;
  /** The version of the accounts of this node. */
  readonly version: number;
}

export interface SealingDeps {
  readonly own: Stream;
  readonly streams: () => readonly Stream[];
  readonly seal: (request: SealRequest) => Promise<SealReply>;
  /** Is called when the spool may have other deltas, or other streams. */
  readonly sealed: () => void;
  readonly applied: () => number;
  readonly time: SharedClock;
  readonly monotonic: () => number;
  readonly log: Log;
}

/** A round of sealing begins this long after the one before: a cell that changes often goes into few deltas. */
const everyMs = 1000;
/** Deltas that may wait for the engine. What is not sealed yet goes on to be merged. */
const maxAhead = 32;
/** How long the engine's clock has to be ahead of what was acknowledged, so that it may go. */
const keepMs = 3_600_000;

/** Paces the sealing: in rounds, each of as many steps as there is to seal. */
export class Sealing {
  readonly #deps: SealingDeps;
  #isAsked = false;
  /** When the round that is not over began: by the engine's clock, and the one for pace. */
  #round: { readonly at: number } | undefined;
  #began = Number.NEGATIVE_INFINITY;
  #through = 0;
  #throughSeq = -1;
  #version = 0;
  #failed: string | undefined;
  readonly #noted = new Map<string, number>();
  readonly #finished = new Set<string>();

  constructor(deps: SealingDeps) {
    this.#deps = deps;
  }

  /** A round is to begin at once. */
  ask(): void {
    this.#isAsked = true;
  }

  get isDue(): boolean {
    if (this.#deps.own.waiting >= maxAhead) return false;
    return this.#round !== undefined || this.#isAsked || this.nextInMs <= 0;
  }

  /** A round is not over. */
  get isUnderWay(): boolean {
    return this.#round !== undefined;
  }

  get nextInMs(): number {
    return this.#began + everyMs - this.#deps.monotonic();
  }

  /** All that was answered before this time (the engine's clock, Unix ms) is in deltas. */
  get through(): number {
    return this.#through;
  }

  /** The last delta at the end of the last round: when the engine has it, it has all before `through`. */
  get throughSeq(): number {
    return this.#throughSeq;
  }

  /** The version of the accounts of this node, as the last step said. */
  get version(): number {
    return this.#version;
  }

  /** Why nothing can be sealed: the disk does not take it. */
  get failed(): string | undefined {
    return this.#failed;
  }

  /** Seals until the round is over, or enough deltas wait for the engine. */
  async advance(confirmedAt: number | undefined): Promise<void> {
    try {
      while (this.isDue) await this.#step(confirmedAt);
      if (this.#failed !== undefined) this.#deps.log.info('deltas can be sealed again');
      this.#failed = undefined;
    } catch (error) {
      if (this.#failed === undefined)
        this.#deps.log.error('no delta can be sealed; it is tried again each second', { error });
      this.#failed = (error as Error).message;
      this.#round = undefined;
    }
  }

  /** Tells the spool what the engine has, and seals nothing. */
  async note(confirmedAt: number | undefined): Promise<void> {
    const request = this.#request(confirmedAt, true);
    await this.#deps.seal(request);
    this.#noteTold(request);
  }

  async #step(confirmedAt: number | undefined): Promise<void> {
    if (this.#round === undefined) {
      this.#isAsked = false;
      this.#began = this.#deps.monotonic();
    }
    const request = this.#request(confirmedAt, false);
    const { sealed, done, version } = await this.#deps.seal(request);
    this.#version = version;
    this.#noteTold(request);
    this.#round ??= { at: request.at };
    this.#deps.sealed();
    if (!done) return;
    this.#through = this.#round.at;
    this.#throughSeq = sealed;
    this.#round = undefined;
  }

  #noteTold({ acknowledged, finished }: SealRequest): void {
    for (const { stream, seq } of acknowledged) this.#noted.set(stream, seq);
    for (const stream of finished) this.#finished.add(stream);
  }

  #request(confirmedAt: number | undefined, onlyNote: boolean): SealRequest {
    const streams = this.#deps.streams();
    const news = streams.filter((each) => {
      return each.acknowledgedAt > 0 && this.#noted.get(each.stream) !== each.acknowledged;
    });
    const closed = streams.filter(({ isOwn, held }) => held === 'closed' && !isOwn);
    const finished = streams.filter(({ stream, isDone }) => isDone && !this.#finished.has(stream));
    // While a stream goes again, nothing of it may be removed: the spool counts it as acknowledged.
    const isSure = confirmedAt !== undefined && streams.every(({ isShipped }) => isShipped);
    return {
      at: this.#deps.time.now(),
      applied: this.#deps.applied(),
      acknowledged: news.map(({ stream, acknowledged, acknowledgedAt }) => ({
        stream,
        seq: acknowledged,
        at: acknowledgedAt,
      })),
      removeBefore: isSure ? confirmedAt - keepMs : undefined,
      closed: closed.map(({ stream, acknowledged }) => ({ stream, after: acknowledged })),
      finished: finished.map(({ stream }) => stream),
      onlyNote,
    };
  }
}
