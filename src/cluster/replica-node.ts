import type { RetentionStep } from '../aggregate/maintain.ts';
import type { Clock } from '../clock.ts';
import type { Forgotten } from '../commit/envelope.ts';
import type { Freshness } from '../commit/usage-engine.ts';
import { engineAway, isStoreFailure } from '../errors.ts';
import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import { EngineError } from '../postgres/engine-error.ts';
import { SharedClock } from '../postgres/shared-clock.ts';
import type { ReplicaStore } from '../store/replica-store.ts';
import type { EngineView } from './beat.ts';
import type { ExportProgress } from './daily-export.ts';
import { Following } from './following.ts';
import type { NodeFacts } from './join.ts';
import { LogAppender } from './log.ts';
import type { ErasedThings, LoggedMint } from './log-bodies.ts';
import type { Refuses } from './membership.ts';
import { MeteredSession } from './metered-session.ts';
import { NodeLoop } from './node-loop.ts';
import type { Replica } from './replica.ts';
import type { SealOutcome, SealRequest } from './seal.ts';
import { Sealing } from './sealing.ts';
import { defaultSettings, type ReplicaSettings } from './settings.ts';
import { SettingsEntry } from './settings-entry.ts';
import { SideWork, type Trimming } from './side-work.ts';
import type { Spool } from './spool.ts';
import { Stream } from './streams.ts';

export interface ReplicaNodeDeps {
  readonly facts: NodeFacts;
  /** For what the loop does, and for what must not wait for it: mints, snapshots. */
  readonly session: EngineSession;
  readonly side: EngineSession;
  readonly spool: Spool;
  readonly replica: Replica;
  /** Of the replica, for reading. */
  readonly store: ReplicaStore;
  readonly settings: ReplicaSettings;
  /** See `SnapshotDeps`. */
  readonly snapshotBytes: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Asks the spool worker, by way of the main thread. */
  readonly seal: (request: SealRequest) => Promise<SealOutcome>;
  /** Is told what others want to know, whenever that may have changed. */
  readonly tell: (told: NodeTold) => void;
  /** The store of the replica failed, as its commits say: see `StoreHealth`. */
  readonly storeFailed: (error: Error) => void;
  /** See `FollowingDeps`. */
  readonly setAside: () => Promise<unknown>;
  /** Resolves when the main thread does not remember instance ids of those who were forgotten. */
  readonly forgotten: () => Promise<unknown>;
}

/** What the node tells the main thread of itself. Times are Unix ms. */
export interface NodeTold {
  readonly isJoined: boolean;
  /** This process must not use this directory with this engine. */
  readonly refusal: string | undefined;
  /** Why reports and accounts are not served. */
  readonly trouble: string | undefined;
  readonly link: {
    readonly isUp: boolean;
    readonly since: number;
    readonly reason: string;
    readonly commits: number;
    readonly commitMs: number;
    readonly failovers: number;
  };
  readonly view: Pick<EngineView, 'nodes' | 'refused' | 'head' | 'engine'> | undefined;
  readonly applied: number;
  readonly completeThrough: number;
  readonly spoolBytes: number;
  readonly oldestUnshipped: number | undefined;
  readonly shipped: number;
  readonly rebases: number;
  readonly trimming: Trimming;
  /** Why this node may not count: see `NodeLoop.refuses`. */
  readonly refuses: Refuses | undefined;
}

/** Figures of the spool are read this often at most. */
const levelEveryMs = 500;
const tellEveryMs = 250;
/** A spool of this size is nothing to speak of. */
const leastSaidBytes = 32 * 2 ** 20;

/** A node's part of the cluster: what stands between its disk and the engine. It runs in the thread that alone writes the replica. */
export class ReplicaNode {
  readonly #deps: ReplicaNodeDeps;
  readonly #streams: Stream[] = [];
  readonly #own: Stream;
  readonly #sealing: Sealing;
  readonly #following: Following;
  readonly #appender: LogAppender;
  readonly #loop: NodeLoop;
  readonly #sideWork: SideWork;
  readonly #metered: MeteredSession;
  #level = { bytes: 0, oldest: undefined as number | undefined, at: Number.NEGATIVE_INFINITY };
  #saidBytes = leastSaidBytes;
  #toldAt = Number.NEGATIVE_INFINITY;
  #toldTrouble: string | undefined = 'nothing is told yet';

  constructor(deps: ReplicaNodeDeps) {
    const { facts, side, replica, clock, log } = deps;
    this.#deps = deps;
    const monotonic = () => clock.monotonic();
    this.#metered = new MeteredSession(deps.session, monotonic);
    const session = this.#metered;
    const time = new SharedClock(clock);
    this.#updateStreams();
    this.#own = this.#streams.find(({ isOwn }) => isOwn)!;
    this.#sealing = new Sealing({
      own: this.#own,
      streams: this.#streams,
      seal: deps.seal,
      sealed: () => this.#updateStreams(),
      applied: () => replica.applied.position,
      time,
      monotonic,
      log,
    });
    this.#following = new Following({
      ...{ session, replica, clock, log, setAside: deps.setAside },
      meanwhile: () => this.#loop.goOn(),
    });
    this.#appender = new LogAppender(side);
    this.#loop = new NodeLoop({
      ...{ facts, session, replica, clock, time, log },
      ...{ streams: this.#streams, own: this.#own, sealing: this.#sealing, following: this.#following },
      settings: new SettingsEntry(replica, this.#appender, deps.settings),
      spool: () => this.#spoolLevel(),
      told: () => this.#tell(),
      forgotten: deps.forgotten,
      stumbled: (error) => this.#stumbled(error),
    });
    this.#sideWork = new SideWork({
      ...{ session: side, replica, log, clock, appender: this.#appender, loop: this.#loop },
      directory: facts.directory,
      leastBytes: deps.snapshotBytes,
      store: deps.store,
      progress: () => this.#exportProgress(),
    });
  }

  start(): void {
    this.#loop.start();
    this.#sideWork.start();
  }

  /** See `NodeLoop.freshen`. */
  async freshen(): Promise<Freshness> {
    const completeThrough = await this.#loop.freshen();
    const done = this.#loop.view!.nodes.filter(({ state }) => state === 'done');
    return { completeThrough, mayBeCounting: done.map(({ name, directory }) => name || directory) };
  }

  /** Resolves when the log has it. @throws {ApiError} `engine_unavailable` */
  async mint(mint: LoggedMint): Promise<void> {
    await refusing(this.#appender.mint(mint));
  }

  /** Resolves when this node has applied it. @throws {ApiError} `engine_unavailable` */
  async forget(forgotten: Forgotten): Promise<void> {
    await this.#loop.applied(await refusing(this.#appender.append('forget', forgotten)));
  }

  /** Resolves when this node has applied it: from then on no delta can bring back what is erased. @throws {ApiError} as above */
  async erase(erased: ErasedThings): Promise<void> {
    await this.#loop.applied(await refusing(this.#appender.append('erase', erased)));
    this.#sideWork.hurry();
  }

  /** @returns records touched: 0 when nothing is left to do */
  maintain(step: RetentionStep): number {
    return this.#deps.replica.maintain(step);
  }

  /** Ships what there is, after the last packet was answered. @returns whether all of it went */
  async end(): Promise<boolean> {
    const [isShipped] = await Promise.all([this.#loop.end(), this.#sideWork.end()]);
    return isShipped;
  }

  #exportProgress(): ExportProgress | undefined {
    const { isCaughtUp, trouble, view } = this.#loop;
    const completeThrough = this.#loop.completeness.known;
    if (!isCaughtUp || trouble !== undefined || completeThrough === undefined) return undefined;
    return { completeThrough, now: view!.at, retention: this.#deps.replica.settings ?? defaultSettings };
  }

  /** Takes over what the spool has of each stream. */
  #updateStreams(): void {
    const { facts, spool, log } = this.#deps;
    const deps = { session: this.#metered, spool, directory: facts.directory, log };
    const records = spool.streams().filter(({ state }) => state !== 'aside');
    for (const stream of this.#streams) {
      stream.update(records.find((each) => each.stream === stream.stream));
    }
    const news = records.filter((record) => this.#streams.every(({ stream }) => stream !== record.stream));
    for (const record of news) this.#streams.push(new Stream(record, record.stream === facts.stream, deps));
  }

  #spoolLevel(): { readonly bytes: number; readonly oldest: number | undefined } {
    const now = this.#deps.clock.monotonic();
    if (now - this.#level.at < levelEveryMs) return this.#level;
    const { bytes, oldest } = this.#deps.spool.level();
    this.#level = { bytes, oldest, at: now };
    this.#watchGrowth(bytes);
    return this.#level;
  }

  /** While the engine is away, each doubling of the spool is said. */
  #watchGrowth(bytes: number): void {
    if (this.#loop.link.isUp) this.#saidBytes = Math.max(leastSaidBytes, bytes);
    else if (bytes >= 2 * this.#saidBytes) {
      this.#saidBytes = bytes;
      this.#deps.log.warn('the spool grows, because the engine is away', { bytes });
    }
  }

  #stumbled(error: Error): void {
    this.#deps.log.error('what nodes have counted cannot be applied; it is tried again', { error });
    if (isStoreFailure(error)) this.#deps.storeFailed(error);
  }

  #tell(): void {
    const trouble = this.#loop.refuses ?? this.#loop.trouble;
    const now = this.#deps.clock.monotonic();
    if (trouble === this.#toldTrouble && now - this.#toldAt < tellEveryMs) return;
    this.#toldAt = now;
    this.#toldTrouble = trouble;
    this.#deps.tell(this.#told());
  }

  #told(): NodeTold {
    const { view, link, isJoined, refusal, refuses, trouble } = this.#loop;
    const { bytes, oldest } = this.#spoolLevel();
    const { isUp, since, reason, failovers } = link;
    const { commits, commitMs } = this.#metered;
    return {
      ...{ isJoined, refusal, refuses, trouble },
      completeThrough: this.#loop.completeness.through,
      link: { isUp, since, reason, failovers, commits, commitMs },
      view: view && {
        nodes: view.nodes,
        refused: view.refused,
        head: view.head,
        engine: view.engine,
      },
      applied: this.#deps.replica.applied.position,
      spoolBytes: bytes,
      oldestUnshipped: oldest,
      shipped: this.#own.acknowledged,
      rebases: this.#following.rebases,
      trimming: this.#sideWork.trimming,
    };
  }
}

/** Those who asked may be strangers: the log says which host failed, and why. */
async function refusing<T>(appended: Promise<T>): Promise<T> {
  try {
    return await appended;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw engineAway();
  }
}
