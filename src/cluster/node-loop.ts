import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import type { Log } from '../log.ts';
import { EngineError } from '../postgres/engine-error.ts';
import { beat, type EngineView } from './beat.ts';
import { Bell } from './bell.ts';
import type { Following } from './following.ts';
import { JoinRefused, join, type NodeFacts } from './join.ts';
import { Link } from './link.ts';
import type { Replica } from './replica.ts';
import type { Sealing } from './sealing.ts';
import type { EngineSession } from './session.ts';
import type { Stream } from './streams.ts';

export interface NodeLoopDeps {
  readonly facts: NodeFacts;
  readonly session: EngineSession;
  readonly replica: Replica;
  readonly streams: readonly Stream[];
  readonly own: Stream;
  readonly sealing: Sealing;
  readonly following: Following;
  readonly spool: () => { readonly bytes: number; readonly oldest: number | undefined };
  readonly clock: Clock;
  readonly log: Log;
  /** Is called when something has changed that others want to know. */
  readonly told: () => void;
}

interface WaitingForEntry {
  readonly position: number;
  readonly until: number;
  readonly done: () => void;
  readonly refused: (error: Error) => void;
}

interface Waiting {
  /** By the node's clock, Unix ms. */
  readonly since: number;
  /** By the clock for ages. */
  readonly until: number;
  readonly done: (completeThrough: number) => void;
  readonly refused: (error: Error) => void;
}

const beatMs = 1000;
/** A report waits this long for what this node has counted; then it says until when it is complete. */
const patienceMs = 1000;
/** An entry that this node has appended is applied within this time, or its sender is told to try again. */
const entryMs = 5000;
const longestPauseMs = 2000;
/** Between two questions what the engine has of a stream. */
const doubtMs = 10;
/** Between two attempts to take the directory's row back. */
const rejoinMs = 30_000;
const firstPauseMs = 100;

/**
 * What a node does with the engine, one thing after another: it joins, beats, seals, ships, and applies what is in the log. It
 * goes on at once while there is something to do.
 */
export class NodeLoop {
  readonly #deps: NodeLoopDeps;
  readonly link: Link;
  readonly #bell = new Bell();
  #waiting: Waiting[] = [];
  #entries: WaitingForEntry[] = [];
  #view: EngineView | undefined;
  #beatAt = Number.NEGATIVE_INFINITY;
  #isJoined = false;
  #isEnding = false;
  #refusal: JoinRefused | undefined;
  #completeThrough = 0;
  /** Up to where all that this node has answered was in the log when the engine was last asked. */
  #ownThrough = 0;
  #skewMs = 0;
  #newer: Error | undefined;
  #stumbled: Error | undefined;
  #isCopied = false;
  #rejoinAt = 0;

  constructor(deps: NodeLoopDeps) {
    this.#deps = deps;
    this.link = new Link(deps.log, deps.clock);
  }

  /** What the engine last said. */
  get view(): EngineView | undefined {
    return this.#view;
  }

  get isJoined(): boolean {
    return this.#isJoined;
  }

  /** Why this process must not use this directory with this engine. */
  get refusal(): string | undefined {
    return this.#refusal?.message;
  }

  /** The replica had all that the engine last showed. */
  get isCaughtUp(): boolean {
    return this.#view !== undefined && !this.#isBehind;
  }

  get completeThrough(): number {
    return this.#completeThrough;
  }

  /** How far this machine's clock is ahead of the engine's. */
  get skewMs(): number {
    return this.#skewMs;
  }

  /** Why accounts and reports are not served, for people. */
  get trouble(): string | undefined {
    if (this.#refusal !== undefined) return this.#refusal.message;
    if (this.#newer !== undefined) return this.#newer.message;
    if (this.#stumbled !== undefined) return this.#stumbled.message;
    if (!this.link.isUp) return `the engine is away: ${this.link.reason}`;
    return this.#deps.following.isLoading ? 'what other nodes have counted is being loaded' : undefined;
  }

  /** Something has to be done before its time. */
  hurry(): void {
    this.#bell.ring();
  }

  /**
   * Resolves with until when the replica is complete, when it has what this node has answered until now and what others have
   * shipped.
   * @throws {ApiError} `engine_unavailable`
   */
  freshen(): Promise<number> {
    const { trouble } = this;
    if (trouble !== undefined && this.link.isTried) return Promise.reject(unavailable(trouble));
    const { clock, sealing } = this.#deps;
    const until = clock.monotonic() + patienceMs;
    return new Promise((done, refused) => {
      this.#waiting.push({ since: clock.now(), until, done, refused });
      sealing.ask();
      this.#bell.ring();
    });
  }

  /** Resolves when this node has applied an entry of the log. @throws {ApiError} `engine_unavailable` */
  applied(position: number): Promise<void> {
    const until = this.#deps.clock.monotonic() + entryMs;
    return new Promise((done, refused) => {
      this.#entries.push({ position, until, done, refused });
      this.#bell.ring();
    });
  }

  /** Goes on until the process ends, or must not go on. */
  async run(): Promise<void> {
    let pause = firstPauseMs;
    while (!this.#isEnding) {
      try {
        await this.#round();
        this.link.up(this.#view);
        this.#stumbled = undefined;
        pause = firstPauseMs;
        this.#answer();
        await this.#bell.wait(this.#pauseMs);
      } catch (error) {
        if (error instanceof JoinRefused) return this.#refuse(error);
        this.#fail(error as Error);
        await this.#bell.wait(pause);
        pause = Math.min(2 * pause, longestPauseMs);
      }
    }
  }

  /**
   * Ships what there is and says goodbye, after the last packet was answered.
   * @returns false when that did not go
   */
  async end(): Promise<boolean> {
    this.#isEnding = true;
    this.#bell.ring();
    if (!this.#isJoined || !this.link.isUp) return false;
    try {
      return await this.#sayGoodbye();
    } catch (error) {
      this.#fail(error as Error);
      return false;
    }
  }

  async #round(): Promise<void> {
    const { streams, sealing, clock } = this.#deps;
    if (!this.#isJoined) await this.#join();
    if (this.#view === undefined) await this.#beat();
    await sealing.advance(this.#view!.at);
    for (const stream of streams) while ((await stream.shipNext()) !== undefined) if (this.#isBeatDue) break;
    if (this.#isBeatDue || this.#isAwaited || this.#isInDoubt) await this.#beat();
    await this.#follow();
    if (clock.monotonic() - this.#beatAt > 2 * beatMs) await this.#beat();
  }

  async #join(): Promise<void> {
    const { session, facts, clock, replica, log } = this.#deps;
    const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
    await join({ session, now: () => clock.now(), pause }, facts);
    this.#isJoined = true;
    log.info('joined the engine', {
      node: facts.name,
      directory: facts.directory,
      applied: replica.applied.position,
    });
  }

  /** The directory's row is gone, because the engine went back, or another process has it. What this one counts is shipped still. */
  async #rejoin(): Promise<void> {
    const { clock, log } = this.#deps;
    if (clock.monotonic() < this.#rejoinAt) return;
    this.#rejoinAt = clock.monotonic() + rejoinMs;
    try {
      await this.#join();
    } catch (error) {
      if (!(error instanceof JoinRefused)) throw error;
      if (!this.#isCopied) log.error('this node is not alone', { error });
      this.#isCopied = true;
    }
  }

  get #isBeatDue(): boolean {
    return this.#deps.clock.monotonic() >= this.#beatAt + beatMs;
  }

  get #isAwaited(): boolean {
    return this.#waiting.length > 0 || this.#entries.length > 0;
  }

  /** A stream has to know what the engine has, before it goes on. */
  get #isInDoubt(): boolean {
    return this.#deps.streams.some(({ waiting, isKnown }) => waiting > 0 && !isKnown);
  }

  async #beat(): Promise<void> {
    const { facts, session, replica, streams, own, sealing, spool, clock } = this.#deps;
    const isIdle = own.isShipped && own.sealed === sealing.throughSeq && !sealing.isUnderWay;
    const { bytes, oldest } = spool();
    const asked = clock.now();
    this.#beatAt = clock.monotonic();
    const view = await beat(session, {
      directory: facts.directory,
      stream: own.stream,
      applied: replica.applied.position,
      spoolBytes: bytes,
      oldestUnshipped: oldest,
      skewMs: this.#skewMs,
      version: sealing.version,
      seq: own.sealed,
      idleThrough: isIdle ? sealing.through : undefined,
      streams: streams.map(({ stream }) => stream),
    });
    this.#skewMs = (asked + clock.now()) / 2 - view.at;
    this.#view = view;
    if (own.acknowledged >= sealing.throughSeq) this.#ownThrough = sealing.through;
    if (!view.isOurs) await this.#rejoin();
    else this.#isCopied = false;
    for (const stream of streams) await stream.settle(view.streams.get(stream.stream), view.at, view.isOurs);
  }

  async #follow(): Promise<void> {
    const { following, replica, sealing } = this.#deps;
    const { head, othersThrough } = this.#view!;
    if (this.#newer !== undefined) return;
    const { applied } = replica;
    if (applied.position === head.position && applied.id === head.id && !replica.isLoading) {
      this.#completeThrough = Math.min(this.#ownThrough, othersThrough ?? Number.POSITIVE_INFINITY);
      return;
    }
    const kinds = await this.#apply(following);
    // Counts of someone who was forgotten just now must not stay in a delta that was begun before.
    if (kinds.has('forget') || kinds.has('erase')) sealing.ask();
    if (replica.applied.position >= head.position)
      this.#completeThrough = Math.min(this.#ownThrough, othersThrough ?? Number.POSITIVE_INFINITY);
  }

  async #apply(following: Following): Promise<ReadonlySet<string>> {
    try {
      return await following.step();
    } catch (error) {
      if ((error as Error).name !== 'NewerEntry') throw error;
      this.#newer = error as Error;
      this.#deps.log.error('the log cannot be applied', { error });
      return new Set();
    }
  }

  get #isBehind(): boolean {
    return this.#newer === undefined && this.#deps.replica.applied.position < this.#view!.head.position;
  }

  get #isBusy(): boolean {
    const { sealing, own } = this.#deps;
    return this.#isAwaited || sealing.isUnderWay || own.waiting > 0 || this.#isBehind;
  }

  get #pauseMs(): number {
    if (this.#isInDoubt) return doubtMs;
    if (this.#isBusy) return 0;
    const beatIn = this.#beatAt + beatMs - this.#deps.clock.monotonic();
    return Math.max(0, Math.min(beatIn, this.#deps.sealing.nextInMs));
  }

  /** Answers those that wait, when the replica has what they wait for, or they have waited long enough. */
  #answer(): void {
    const now = this.#deps.clock.monotonic();
    const isDone = ({ since, until }: Waiting) =>
      (this.#ownThrough >= since && !this.#isBehind) || now >= until;
    const done = this.#waiting.filter(isDone);
    if (done.length > 0) this.#waiting = this.#waiting.filter((waiting) => !isDone(waiting));
    for (const waiting of done) waiting.done(this.#completeThrough);
    this.#answerEntries(now);
    this.#deps.told();
  }

  #answerEntries(now: number): void {
    if (this.#entries.length === 0) return;
    const { position } = this.#deps.replica.applied;
    const { trouble } = this;
    const left = this.#entries.filter((entry) => {
      if (entry.position <= position) entry.done();
      else if (now >= entry.until) entry.refused(unavailable(trouble ?? 'the log is not applied yet'));
      else return true;
      return false;
    });
    this.#entries = left;
  }

  #fail(error: Error): void {
    for (const stream of this.#deps.streams) stream.doubt();
    if (error instanceof EngineError || error instanceof JoinRefused) this.link.down(error);
    else this.#stumble(error);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { refused } of waiting) refused(unavailable(error.message));
    this.#answerEntries(this.#deps.clock.monotonic());
    this.#deps.told();
  }

  /** The engine is not to blame. */
  #stumble(error: Error): void {
    if (this.#stumbled?.message !== error.message)
      this.#deps.log.error('what nodes have counted cannot be applied; it is tried again', { error });
    this.#stumbled = error;
  }

  #refuse(error: JoinRefused): void {
    this.#refusal = error;
    this.#fail(error);
  }

  async #sayGoodbye(): Promise<boolean> {
    const { streams, own, sealing, session, facts, log } = this.#deps;
    sealing.ask();
    await sealing.advance(this.#view?.at);
    while (sealing.isUnderWay || streams.some(({ waiting }) => waiting > 0)) {
      for (const stream of streams) await stream.shipNext();
      await this.#beat();
      await sealing.advance(this.#view?.at);
    }
    await sealing.note(this.#view?.at);
    const isLast = own.isShipped && own.stopped === undefined;
    if (!isLast) return false;
    await session.transaction(async (run) => {
      await run({
        name: 'fm-goodbye-stream',
        text: `UPDATE fm_stream SET state = 'done' WHERE stream = $1 AND seq = $2 AND state = 'open'`,
        values: [own.stream, own.sealed],
      });
      await run({
        name: 'fm-goodbye-node',
        text: `UPDATE fm_node SET state = 'done', beat_at = clock_timestamp() WHERE directory = $1 AND stream = $2 AND state = 'up'`,
        values: [facts.directory, own.stream],
      });
    });
    log.info('everything that was counted is shipped', { deltas: own.sealed });
    return true;
  }
}

function unavailable(reason: string): ApiError {
  return new ApiError('engine_unavailable', `The engine that all nodes share cannot be asked: ${reason}`, 2);
}
