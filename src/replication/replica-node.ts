import { setImmediate } from 'node:timers/promises';
import type { Forgotten } from '../storage/commit/envelope.ts';
import type { Freshness, LogStatus } from '../storage/commit/usage-store.ts';
import { type ExportProgress, exportDays } from './daily-export.ts';
import { defaultSettings, type ErasedThings, type LoggedMint } from './entry.ts';
import { LogAppender } from './log.ts';
import { makeSnapshot, trimLogs } from './log-upkeep.ts';
import { Link, type NodeCondition, type NodeDeps } from './node-deps.ts';
import { Loop, NodeLoop } from './node-loop.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { PostgresError } from './postgres/postgres-error.ts';
import { readLogLength } from './postgres/postgres-report.ts';
import { SharedClock } from './postgres/shared-clock.ts';

interface ReplicaNodeDeps extends Omit<NodeDeps, 'link' | 'time' | 'appender'> {
  /** Session of the node loop. */
  readonly session: PostgresSession;
}

/** Minimum interval between reads of the spool's size. */
const levelEveryMs = 500;
const tellEveryMs = 250;
/** Minimum size of a spool whose growth is logged. */
const leastSaidBytes = 32 * 2 ** 20;

/** Ships the spool of a node, and applies the log to its replica. Runs in the only thread that writes the replica. */
export class ReplicaNode {
  readonly #deps: NodeDeps;
  readonly #loop: NodeLoop;
  readonly #sideWork: SideWork;
  #level = { bytes: 0, oldest: undefined as number | undefined, at: Number.NEGATIVE_INFINITY };
  #saidBytes = leastSaidBytes;
  #toldAt = Number.NEGATIVE_INFINITY;
  #toldTrouble: string | undefined = 'nothing reported yet';

  constructor(deps: ReplicaNodeDeps) {
    const link = new Link(deps);
    this.#deps = { ...deps, link, time: new SharedClock(deps.clock), appender: new LogAppender(deps.side) };
    this.#loop = new NodeLoop(this.#deps, { level: () => this.#spoolLevel(), changed: () => this.#tell() });
    this.#sideWork = new SideWork(this.#deps, this.#loop);
  }

  start(): void {
    this.#loop.start();
    this.#sideWork.start();
  }

  /** See `NodeLoop.freshen`. */
  async freshen(): Promise<Freshness> {
    const completeThrough = await this.#loop.freshen();
    const { nodes } = this.#loop.view!;
    const isUnique = (name: string) => nodes.filter((node) => node.name === name).length === 1;
    const done = nodes.filter(({ state }) => state === 'done');
    const mayBeCounting = done.map(({ name, directory }) => {
      if (name === '') return directory;
      return isUnique(name) ? name : `${name} (${directory})`;
    });
    return { completeThrough, mayBeCounting };
  }

  /** Adds the hash of a new instance id to the log. @throws {Refusal} `backpressure` @throws {PostgresError} */
  async mint(mint: LoggedMint): Promise<void> {
    await this.#deps.appender.mint(mint);
  }

  /**
   * Appends an entry that forgets a person, and waits until this node has applied it.
   * @throws {Refusal} `postgres_unavailable`
   * @throws {PostgresError}
   */
  async forget(forgotten: Forgotten): Promise<void> {
    await this.#loop.applied(await this.#deps.appender.append('forget', forgotten));
  }

  /**
   * Appends an entry that erases data, and waits until this node has applied it. From then on, no delta restores the
   * data. Throws like `forget`.
   */
  async erase(erased: ErasedThings): Promise<void> {
    await this.#loop.applied(await this.#deps.appender.append('erase', erased));
    this.#sideWork.hurry();
  }

  /** Ships the rest of the spool, after the last packet was acknowledged. @returns true if all of it was shipped */
  async end(): Promise<boolean> {
    const [isShipped] = await Promise.all([this.#loop.end(), this.#sideWork.end()]);
    return isShipped;
  }

  #spoolLevel(): { readonly bytes: number; readonly oldest: number | undefined } {
    const now = this.#deps.clock.monotonic();
    if (now - this.#level.at < levelEveryMs) return this.#level;
    const { bytes, oldest } = this.#deps.spool.level();
    this.#level = { bytes, oldest, at: now };
    this.#watchGrowth(bytes);
    return this.#level;
  }

  /** Logs each doubling of the spool while PostgreSQL is unavailable. */
  #watchGrowth(bytes: number): void {
    if (this.#deps.link.status.connected) this.#saidBytes = Math.max(leastSaidBytes, bytes);
    else if (bytes >= 2 * this.#saidBytes) {
      this.#saidBytes = bytes;
      this.#deps.log.warn('the spool is growing, because PostgreSQL is not available', { bytes });
    }
  }

  #tell(): void {
    const trouble = this.#loop.membership.refuses ?? this.#loop.trouble;
    const now = this.#deps.clock.monotonic();
    if (trouble === this.#toldTrouble && now - this.#toldAt < tellEveryMs) return;
    this.#toldAt = now;
    this.#toldTrouble = trouble;
    this.#deps.main.tell(this.#told());
  }

  #told(): NodeCondition {
    const { membership, refusal, trouble, view, completeness, follower } = this.#loop;
    const { isJoined, refuses } = membership;
    const { bytes, oldest } = this.#spoolLevel();
    return {
      isJoined,
      refusal,
      refuses,
      trouble,
      status: {
        directory: this.#deps.facts.directory,
        postgres: this.#deps.link.status,
        nodes: view?.nodes ?? [],
        completeThrough: completeness.through,
        spool: { bytes, maxBytes: this.#deps.maxSpoolBytes, oldestUnshipped: oldest },
        refused: view?.refused ?? { rows: 0, latest: [] },
        rebases: follower.rebases,
        log: this.#sideWork.trimming,
      },
    };
  }
}

const lookEveryMs = 5000;
const horizonEveryMs = 30_000;
const snapshotEveryMs = 60_000;
const trimEveryMs = 600_000;
const exportEveryMs = 30_000;
const eraseStep = 64;

/** Does background work in its own session: horizons, snapshots, trimming, and the export of usage by days. */
class SideWork {
  readonly #deps: NodeDeps;
  readonly #node: NodeLoop;
  readonly #upkeep = new Loop(() => this.#look('upkeep of the log failed; retrying', () => this.#once()));
  readonly #exporting = new Loop(() =>
    this.#look('writing usage by days for SQL failed; retrying', () =>
      this.#every('export', exportEveryMs, () => this.#export()),
    ),
  );
  readonly #last = new Map<string, number>();
  /** Number of entries trimmed by this process, and the length of the log after the last trimming. */
  trimming: LogStatus = { trimmed: 0, bytes: 0, oldest: undefined };

  constructor(deps: NodeDeps, node: NodeLoop) {
    this.#deps = deps;
    this.#node = node;
  }

  start(): void {
    this.#upkeep.start();
    this.#exporting.start();
  }

  /** Ends the pause of the upkeep loop, which then erases the deleted data. */
  hurry(): void {
    this.#upkeep.ring();
  }

  async end(): Promise<void> {
    await Promise.all([this.#upkeep.end(), this.#exporting.end()]);
  }

  /** Runs one round. @returns the pause before the next round, ms */
  async #look(failed: string, round: () => Promise<void>): Promise<number> {
    try {
      if (this.#node.isCaughtUp && this.#node.trouble === undefined) await round();
    } catch (error) {
      // `NodeLoop` logs that PostgreSQL is unavailable.
      if (!(error instanceof PostgresError && ['unreachable', 'refused'].includes(error.code)))
        this.#deps.log.warn(failed, { error });
    }
    return lookEveryMs;
  }

  async #once(): Promise<void> {
    const { appender, replica, side, facts, snapshotBytes, log } = this.#deps;
    const snapshots = { session: side, replica, directory: facts.directory, leastBytes: snapshotBytes, log };
    await this.#every('horizon', horizonEveryMs, () => appender.horizon(horizonEveryMs));
    await this.#every('snapshot', snapshotEveryMs, () => makeSnapshot(snapshots));
    await this.#every('trim', trimEveryMs, () => this.#trim());
    while (!this.#upkeep.isEnding && replica.erase(eraseStep) > 0) await setImmediate();
  }

  /** Exports days. Retries soon if another node holds the lease, because that node might stop. */
  async #export(): Promise<void> {
    const { side, store, facts, clock, log } = this.#deps;
    const exported = await exportDays({
      session: side,
      store,
      directory: facts.directory,
      clock,
      progress: () => this.#exportProgress(),
      isEnding: () => this.#exporting.isEnding,
    });
    if (exported !== undefined && exported.days > 0) log.info('wrote usage by days for SQL', { ...exported });
    if (exported === undefined) this.#last.delete('export');
  }

  #exportProgress(): ExportProgress | undefined {
    const { isCaughtUp, trouble, view, completeness } = this.#node;
    const completeThrough = completeness.known;
    if (!isCaughtUp || trouble !== undefined || completeThrough === undefined) return undefined;
    return { completeThrough, now: view!.at, retention: this.#deps.replica.settings ?? defaultSettings };
  }

  async #trim(): Promise<void> {
    const { side, log } = this.#deps;
    const trimmed = await trimLogs(side);
    const { entries, bytes, since } = await readLogLength((statement) => side.query(statement));
    this.trimming = { trimmed: this.trimming.trimmed + trimmed, bytes, oldest: since?.getTime() };
    if (trimmed > 0) log.info('trimmed the log', { trimmed, entries, bytes, since });
  }

  async #every(name: string, ms: number, action: () => Promise<unknown>): Promise<void> {
    const now = this.#deps.clock.monotonic();
    if (now - (this.#last.get(name) ?? Number.NEGATIVE_INFINITY) < ms) return;
    this.#last.set(name, now);
    await action();
  }
}
