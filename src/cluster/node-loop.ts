import type { Clock } from '../clock.ts';
import { engineAway } from '../errors.ts';
import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import { Awaited } from './awaited.ts';
import { beat, type EngineView } from './beat.ts';
import { Bell } from './bell.ts';
import { Completeness } from './completeness.ts';
import type { Following } from './following.ts';
import { JoinRefused, type NodeFacts } from './join.ts';
import { isOfEngine, Link } from './link.ts';
import { Membership, type Refuses } from './membership.ts';
import type { Replica } from './replica.ts';
import type { Sealing } from './sealing.ts';
import type { SettingsEntry } from './settings-entry.ts';
import { deregister } from './ship.ts';
import type { Stream } from './streams.ts';

export interface NodeLoopDeps {
  readonly facts: NodeFacts;
  readonly session: EngineSession;
  readonly replica: Replica;
  readonly streams: readonly Stream[];
  readonly own: Stream;
  readonly sealing: Sealing;
  readonly following: Following;
  readonly settings: Pick<SettingsEntry, 'tell'>;
  readonly spool: () => { readonly bytes: number; readonly oldest: number | undefined };
  readonly clock: Clock;
  /** What every beat tells of the engine's clock. */
  readonly time: SharedClock;
  readonly log: Log;
  /** Is called when something has changed that others want to know. */
  readonly told: () => void;
  /** Is told what cannot be applied, and why, once. */
  readonly stumbled: (error: Error) => void;
  /** Resolves when no thread of this process remembers who was forgotten. */
  readonly forgotten: () => Promise<unknown>;
}

const beatMs = 1000;
const longestPauseMs = 2000;
/** Between two questions what the engine has of a stream. */
const doubtMs = 10;
const firstPauseMs = 100;

/**
 * What a node does with the engine, one thing after another: it joins, beats, seals, ships, and applies what is in the log. It
 * goes on at once while there is something to do.
 */
export class NodeLoop {
  readonly #deps: NodeLoopDeps;
  readonly link: Link;
  readonly #membership: Membership;
  readonly #bell = new Bell();
  readonly #awaited = new Awaited();
  #view: EngineView | undefined;
  /** The engine was away, and may have gone back: before anything else it is asked what it has. */
  #mustLook = true;
  #beatAt = Number.NEGATIVE_INFINITY;
  #isEnding = false;
  #running: Promise<void> = Promise.resolve();
  #ended: Promise<boolean> | undefined;
  #refusal: JoinRefused | undefined;
  readonly completeness = new Completeness();
  #stumbled: Error | undefined;

  constructor(deps: NodeLoopDeps) {
    this.#deps = deps;
    this.link = new Link(deps.log, deps.clock);
    this.#membership = new Membership(deps.facts, deps.session, deps.clock, deps.log);
  }

  /** What the engine last said. */
  get view(): EngineView | undefined {
    return this.#view;
  }

  get isJoined(): boolean {
    return this.#membership.isJoined;
  }

  /** Why this process must not use this directory with this engine. */
  get refusal(): string | undefined {
    return this.#refusal?.message;
  }

  /** Why this node may not count, though its disk takes it. */
  get refuses(): Refuses | undefined {
    return this.#membership.refuses(this.#deps.streams);
  }

  /** The replica had all that the engine last showed. */
  get isCaughtUp(): boolean {
    return this.#view !== undefined && !this.#isBehind;
  }

  /** Why accounts and reports are not served, for people. */
  get trouble(): string | undefined {
    const said = this.#refusal ?? this.#deps.following.newer ?? this.#stumbled;
    if (said !== undefined) return said.message;
    if (!this.link.isUp) return `the engine is away: ${this.link.reason}`;
    if (this.#deps.streams.some(({ held }) => held === 'behind'))
      return 'PostgreSQL is older than what this node keeps';
    return this.#deps.following.isLoading ? 'what other nodes have counted is being loaded' : undefined;
  }

  /**
   * Resolves with until when the replica is complete, when it has what this node has answered until now and what others have
   * shipped.
   * @throws {ApiError} `engine_unavailable`
   */
  freshen(): Promise<number> {
    if (this.trouble !== undefined && this.link.isTried) return Promise.reject(engineAway());
    const { clock, time, sealing } = this.#deps;
    sealing.ask();
    this.#bell.ring();
    return this.#awaited.report(time.now(), clock.monotonic());
  }

  /** Resolves when this node has applied an entry of the log. @throws {ApiError} `engine_unavailable` */
  applied(position: number): Promise<void> {
    this.#bell.ring();
    return this.#awaited.entry(position, this.#deps.clock.monotonic());
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Goes on until the process ends, or must not go on. */
  async #run(): Promise<void> {
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
        if (error instanceof JoinRefused) this.#refusal = error;
        this.#fail(error as Error);
        if (this.#refusal !== undefined) return;
        await this.#bell.wait(pause);
        pause = Math.min(2 * pause, longestPauseMs);
      }
    }
  }

  /**
   * Ships what there is and says goodbye, after the last packet was answered.
   * @returns false when that did not go
   */
  end(): Promise<boolean> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<boolean> {
    this.#isEnding = true;
    this.#bell.ring();
    await this.#running;
    if (!this.isJoined || !this.link.isUp) return false;
    try {
      return await this.#shipRest();
    } catch (error) {
      this.#fail(error as Error);
      return false;
    }
  }

  /** What is due each second, while the rest of a round takes longer. */
  async goOn(): Promise<void> {
    if (!this.#isBeatDue) return;
    const { streams, sealing } = this.#deps;
    await sealing.advance(this.#view!.at);
    for (const stream of streams) await stream.shipNext();
    await this.#beat();
  }

  async #round(): Promise<void> {
    const { streams, sealing, settings } = this.#deps;
    if (!this.isJoined) await this.#membership.join();
    if (this.#mustLook) await this.#beat();
    await settings.tell(this.isCaughtUp);
    await sealing.advance(this.#view!.at);
    for (const stream of streams) while (await stream.shipNext()) if (this.#isBeatDue) break;
    if (this.#isBeatDue || !this.#awaited.isEmpty || this.#isInDoubt) await this.#beat();
    await this.#follow();
  }

  get #isBeatDue(): boolean {
    return this.#deps.clock.monotonic() >= this.#beatAt + beatMs;
  }

  /** A stream has to know what the engine has, before it goes on. */
  get #isInDoubt(): boolean {
    if (this.#mustLook) return true;
    return this.#view!.isOurs && this.#deps.streams.some(({ waiting, isKnown }) => waiting > 0 && !isKnown);
  }

  async #beat(): Promise<void> {
    const { facts, session, replica, streams, own, sealing, spool, clock, time } = this.#deps;
    const isIdle = own.isShipped && own.sealed === sealing.last.sealed && !sealing.isUnderWay;
    const { bytes, oldest } = spool();
    this.#beatAt = clock.monotonic();
    const view = await beat(session, {
      ...{ directory: facts.directory, engine: facts.engine },
      stream: own.stream,
      applied: replica.applied.position,
      spoolBytes: bytes,
      oldestUnshipped: oldest,
      skewMs: time.skewMs,
      version: sealing.last.mark.version,
      seq: own.sealed,
      idleThrough: isIdle ? sealing.last.mark.at : undefined,
      streams: streams.map(({ stream }) => stream),
    });
    time.heard(view.at, this.#beatAt);
    this.#view = view;
    this.#mustLook = await this.#membership.keep(view.isOurs, time.skewMs);
    for (const stream of streams) await stream.settle(view.streams.get(stream.stream), view.at, view.isOurs);
    const { mark, sealed } = sealing.last;
    this.completeness.asked({ acknowledged: own.acknowledged, through: mark.at, throughSeq: sealed });
  }

  async #follow(): Promise<void> {
    const { following, replica, sealing } = this.#deps;
    const { head, othersThrough } = this.#view!;
    const through = this.completeness.shown(othersThrough);
    const { applied } = replica;
    const isThere = applied.position === head.position && applied.id === head.id && !replica.isLoading;
    const kinds = isThere ? new Set<string>() : await following.step();
    if (kinds.has('forget')) await this.#deps.forgotten();
    // Counts of someone who was forgotten just now must not stay in a delta that was begun before.
    if (kinds.has('forget') || kinds.has('erase')) sealing.ask();
    const isAtEnd = replica.applied.position >= head.position;
    this.completeness.followed({ isAtEnd, isLoaded: kinds.has('snapshot'), through });
  }

  get #isBehind(): boolean {
    const { head } = this.#view ?? {};
    if (head === undefined || this.#deps.following.newer !== undefined) return false;
    return this.#deps.replica.applied.position < head.position;
  }

  get #isBusy(): boolean {
    const { sealing, own } = this.#deps;
    return !this.#awaited.isEmpty || sealing.isUnderWay || own.waiting > 0 || this.#isBehind;
  }

  get #pauseMs(): number {
    if (this.#isInDoubt) return doubtMs;
    if (this.#isBusy) return 0;
    const beatIn = this.#beatAt + beatMs - this.#deps.clock.monotonic();
    return Math.max(0, Math.min(beatIn, this.#deps.sealing.nextInMs));
  }

  #answer(): void {
    const progress = {
      ownThrough: this.#isBehind ? 0 : this.completeness.ownThrough,
      completeThrough: this.completeness.known,
      position: this.#deps.replica.applied.position,
    };
    this.#awaited.progress(progress, this.#deps.clock.monotonic());
    this.#deps.told();
  }

  #fail(error: Error): void {
    for (const stream of this.#deps.streams) stream.doubt();
    this.#mustLook = true;
    if (isOfEngine(error)) this.link.down(error);
    else if (this.#stumbled?.message !== error.message) this.#deps.stumbled(error);
    if (!isOfEngine(error)) this.#stumbled = error;
    this.#awaited.fail();
    this.#answer();
  }

  async #shipRest(): Promise<boolean> {
    const { streams, own, sealing, session, facts, log } = this.#deps;
    sealing.ask();
    await sealing.advance(this.#view?.at);
    while (sealing.isUnderWay || streams.some(({ waiting }) => waiting > 0)) {
      for (const stream of streams) await stream.shipNext();
      await this.#beat();
      await sealing.advance(this.#view?.at);
    }
    await sealing.note(this.#view?.at);
    if (!own.isShipped || own.held !== undefined) return false;
    await deregister(session, facts.directory, own);
    log.info('everything that was counted is shipped', { deltas: own.sealed });
    return true;
  }
}
