import { postgresAway } from '../contract/errors.ts';
import { isStoreFailure } from '../runtime/failures.ts';
import { Completeness, RequestQueue } from './completeness.ts';
import { sameSettings } from './entry.ts';
import { deregister } from './log.ts';
import { JoinRefusal, Membership, type PostgresView, sendHeartbeat } from './membership.ts';
import type { NodeDeps } from './node-deps.ts';
import { isSameEntry } from './postgres/follower.ts';
import { PostgresError, PostgresSetupError } from './postgres/postgres-error.ts';
import { type Condition, logSession } from './postgres/postgres-report.ts';
import { SealPacer } from './sealing.ts';
import type { SpoolLevel } from './spool.ts';
import { Streams } from './streams.ts';
import { UsageFollower } from './usage-follower.ts';

interface LoopHooks {
  readonly level: () => SpoolLevel;
  readonly changed: () => void;
}

const heartbeatMs = 1000;
const longestPauseMs = 2000;
/** Interval between heartbeats while the state of a stream in PostgreSQL is unknown. */
const doubtMs = 10;
const firstPauseMs = 100;

/** Does a node's work with PostgreSQL, step by step: joins, sends heartbeats, seals, ships, and applies the log. */
export class NodeLoop {
  readonly #deps: NodeDeps;
  readonly #hooks: LoopHooks;
  readonly #streams: Streams;
  readonly #sealing: SealPacer;
  readonly membership: Membership;
  readonly follower: UsageFollower;
  readonly completeness = new Completeness();
  readonly #loop = new Loop(() => this.#runOnce());
  readonly #awaited = new RequestQueue();
  view: PostgresView | undefined;
  /** True if PostgreSQL was unavailable and might have reverted to an earlier state. A heartbeat is then due. */
  #mustLook = true;
  #hasSettings = false;
  #heartbeatAt = Number.NEGATIVE_INFINITY;
  #retryMs = firstPauseMs;
  #ended: Promise<boolean> | undefined;
  #refusal: JoinRefusal | undefined;
  #stumbled: Error | undefined;

  constructor(deps: NodeDeps, hooks: LoopHooks) {
    this.#deps = deps;
    this.#hooks = hooks;
    this.#streams = new Streams(deps);
    this.membership = new Membership(deps, this.#streams);
    this.#sealing = new SealPacer(deps, this.#streams);
    this.follower = new UsageFollower(deps, () => this.#goOn());
  }

  /** Reason why this process must not use this directory with this database. */
  get refusal(): string | undefined {
    return this.#refusal?.message;
  }

  /** True if the replica had applied the whole log at the last heartbeat. */
  get isCaughtUp(): boolean {
    return this.view !== undefined && !this.#isBehind;
  }

  /** Reason why accounts and reports are not served. */
  get trouble(): string | undefined {
    const { replica, link } = this.#deps;
    const said = this.#refusal ?? this.follower.newer ?? this.#stumbled;
    if (said !== undefined) return said.message;
    const { connected, reason } = link.status;
    if (!connected) return `PostgreSQL is not available: ${reason}`;
    if (this.#streams.all.some(({ held }) => held === 'behind')) return 'PostgreSQL is older than what this node keeps';
    return replica.isLoading ? 'the counts of other nodes are being loaded' : undefined;
  }

  /**
   * Resolves when the replica has all counts that this node has acknowledged or other nodes have shipped. The result is
   * the time through which the replica is complete.
   * @throws {Refusal} `postgres_unavailable`
   */
  freshen(): Promise<number> {
    const { clock, link, time } = this.#deps;
    if (this.trouble !== undefined && link.isTried) return Promise.reject(postgresAway());
    this.#sealing.ask();
    this.#loop.ring();
    return this.#awaited.report(time.now(), clock.monotonic());
  }

  /** Resolves when an entry of the log is applied. @throws {Refusal} `postgres_unavailable` */
  applied(position: number): Promise<void> {
    this.#loop.ring();
    return this.#awaited.entry(position, this.#deps.clock.monotonic());
  }

  start(): void {
    this.#loop.start();
  }

  /** Runs one round. @returns the pause before the next round, ms */
  async #runOnce(): Promise<number> {
    try {
      await this.#round();
      this.#deps.link.heard(this.view!.timeline);
      this.#stumbled = undefined;
      this.#retryMs = firstPauseMs;
      this.#reportProgress();
      return this.#pauseMs;
    } catch (error) {
      this.#fail(error as Error);
      const retryMs = this.#retryMs;
      this.#retryMs = Math.min(2 * retryMs, longestPauseMs);
      return retryMs;
    }
  }

  /** Ships all counts and deregisters the node, after the last packet. @returns true if that succeeded */
  end(): Promise<boolean> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<boolean> {
    await this.#loop.end();
    if (!this.membership.isJoined || !this.#deps.link.status.connected) return false;
    return this.#shipRest().catch((error: Error) => {
      this.#fail(error);
      return false;
    });
  }

  /** Does the work that is due each second. Called regularly during long steps. */
  async #goOn(): Promise<void> {
    if (!this.#isHeartbeatDue) return;
    await this.#sealing.advance(this.view!.at);
    for (const stream of this.#streams.all) await stream.shipNext();
    await this.#sendHeartbeat();
  }

  async #round(): Promise<void> {
    if (!this.membership.isJoined) await this.membership.join();
    if (this.#mustLook) await this.#sendHeartbeat();
    await this.#logSettings();
    await this.#sealing.advance(this.view!.at);
    for (const stream of this.#streams.all) while (await stream.shipNext()) if (this.#isHeartbeatDue) break;
    if (this.#isHeartbeatDue || !this.#awaited.isEmpty || this.#isInDoubt) await this.#sendHeartbeat();
    await this.#follow();
  }

  /** Adds the settings to the log before any delta, because they limit names in deltas. The last settings apply. */
  async #logSettings(): Promise<void> {
    if (this.#hasSettings) return;
    const { replica, appender, settings } = this.#deps;
    const isOther = replica.settings === undefined || !sameSettings(replica.settings, settings);
    if (isOther) await appender.append('settings', settings);
    this.#hasSettings = isOther || this.isCaughtUp;
  }

  get #isHeartbeatDue(): boolean {
    return this.#deps.clock.monotonic() >= this.#heartbeatAt + heartbeatMs;
  }

  /** True if PostgreSQL must report the state of a stream before its next delta is shipped. */
  get #isInDoubt(): boolean {
    if (this.#mustLook) return true;
    return this.view!.isOurs && this.#streams.all.some(({ waiting, isKnown }) => waiting > 0 && !isKnown);
  }

  async #sendHeartbeat(): Promise<void> {
    const { facts, link, replica, clock, time } = this.#deps;
    const { own, all } = this.#streams;
    const { watermark, sealed } = this.#sealing.last;
    const isIdle = own.isShipped && own.sealed === sealed && !this.#sealing.isUnderWay;
    const { bytes, oldest } = this.#hooks.level();
    this.#heartbeatAt = clock.monotonic();
    const view = await sendHeartbeat(link, {
      session: logSession(facts, this.#condition(bytes)),
      directory: facts.directory,
      engine: facts.postgresId,
      stream: own.stream,
      seq: own.sealed,
      spoolBytes: bytes,
      oldestUnshipped: oldest,
      skewMs: time.skewMs,
      version: watermark.version,
      applied: replica.applied.position,
      idleThrough: isIdle ? watermark.at : undefined,
      streams: all.map(({ stream }) => stream),
    });
    time.heard(view.at, this.#heartbeatAt);
    this.view = view;
    this.#mustLook = await this.membership.keep(view.isOurs, time.skewMs);
    for (const stream of all) {
      const said = view.streams.find((each) => each.stream === stream.stream);
      await stream.settle(said, view.at, view.isOurs);
    }
    if (view.isOurs) await this.#streams.closeUnknown(view.streams);
    this.completeness.asked({ acknowledged: own.acknowledged, through: watermark.at, throughSeq: sealed });
  }

  /** @param bytes size of the spool */
  #condition(bytes: number): Condition {
    if (this.membership.refuses !== undefined) return this.membership.refuses;
    if (this.#sealing.storeFails) return 'store';
    if (bytes >= this.#deps.maxSpoolBytes) return 'full';
    return this.#streams.all.some(({ held }) => held === 'behind') ? 'behind' : 'ok';
  }

  async #follow(): Promise<void> {
    const { replica, main } = this.#deps;
    const { head, othersThrough } = this.view!;
    const through = this.completeness.shown(othersThrough);
    this.follower.refused.logDue();
    const isThere = isSameEntry(replica.applied, head) && !replica.isLoading;
    const kinds = isThere ? new Set<string>() : await this.follower.step();
    if (kinds.has('forget')) await main.forgotten();
    // A new delta is begun, because the current delta can contain counts of a forgotten person.
    if (kinds.has('forget') || kinds.has('erase')) this.#sealing.ask();
    const isAtEnd = replica.applied.position >= head.position;
    this.completeness.followed({ isAtEnd, isLoaded: kinds.has('snapshot'), through });
  }

  get #isBehind(): boolean {
    const { head } = this.view ?? {};
    if (head === undefined || this.follower.newer !== undefined) return false;
    return this.#deps.replica.applied.position < head.position;
  }

  get #isBusy(): boolean {
    const { own } = this.#streams;
    return !this.#awaited.isEmpty || this.#sealing.isUnderWay || own.waiting > 0 || this.#isBehind;
  }

  get #pauseMs(): number {
    if (this.#isInDoubt) return doubtMs;
    if (this.#isBusy) return 0;
    const dueIn = this.#heartbeatAt + heartbeatMs - this.#deps.clock.monotonic();
    return Math.max(0, Math.min(dueIn, this.#sealing.nextInMs));
  }

  #reportProgress(): void {
    const progress = {
      ownThrough: this.#isBehind ? 0 : this.completeness.ownThrough,
      completeThrough: this.completeness.known,
      position: this.#deps.replica.applied.position,
    };
    this.#awaited.progress(progress, this.#deps.clock.monotonic());
    this.#hooks.changed();
  }

  #fail(error: Error): void {
    const { link, main, log } = this.#deps;
    if (error instanceof JoinRefusal) {
      this.#refusal = error;
      this.#loop.isEnding = true; // The process then reports the refusal, and exits.
    }
    for (const stream of this.#streams.all) stream.isKnown = false; // Forces a query before the next delta.
    this.#mustLook = true;
    if (error instanceof PostgresError || error instanceof PostgresSetupError) link.failed(error);
    else if (this.#refusal === undefined) {
      if (this.#stumbled?.message !== error.message) {
        log.error('applying the log failed; retrying', { error });
        if (isStoreFailure(error)) main.storeFailed(error);
      }
      this.#stumbled = error;
    }
    this.#awaited.fail();
    this.#reportProgress();
  }

  async #shipRest(): Promise<boolean> {
    const { link, facts, log } = this.#deps;
    const { own, all } = this.#streams;
    this.#sealing.ask();
    await this.#sealing.advance(this.view?.at);
    while (this.#sealing.isUnderWay || all.some(({ waiting }) => waiting > 0)) {
      for (const stream of all) await stream.shipNext();
      await this.#sendHeartbeat();
      await this.#sealing.advance(this.view?.at);
    }
    await this.#sealing.note(this.view?.at);
    if (!own.isShipped || own.held !== undefined) return false;
    await deregister(link, facts.directory, own);
    log.info('all counts are shipped', { deltas: own.sealed });
    return true;
  }
}

/** Repeats an action: after a pause, or immediately on a call of `ring`. */
export class Loop {
  readonly #round: () => Promise<number>;
  #isRung = false;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  /** True once the loop is stopping: no further round starts. */
  isEnding = false;

  /** @param round must not throw; resolves with the maximum pause before the next round, ms */
  constructor(round: () => Promise<number>) {
    this.#round = round;
  }

  start(): void {
    this.#running = this.#run();
  }

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Resolves when the current round has finished. No further round starts. */
  end(): Promise<void> {
    this.isEnding = true;
    this.ring();
    return this.#running;
  }

  async #run(): Promise<void> {
    while (!this.isEnding) await this.#pause(await this.#round());
  }

  async #pause(ms: number): Promise<void> {
    if (!this.#isRung && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = () => {};
    this.#isRung = false;
  }
}
