import type { RetentionStep } from '../storage/aggregate/maintain.ts';
import type { Forgotten } from '../storage/commit/envelope.ts';
import type { Freshness } from '../storage/commit/usage-store.ts';
import type { ErasedThings, LoggedMint } from './entry.ts';
import { Link } from './link.ts';
import { LogAppender } from './log.ts';
import { NodeLoop } from './node-loop.ts';
import type { NodeParts, NodeTold } from './node-parts.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { SharedClock } from './postgres/shared-clock.ts';
import { SideWork } from './side-work.ts';

interface ReplicaNodeDeps extends Omit<NodeParts, 'link' | 'time' | 'appender'> {
  /** For the loop. */
  readonly session: PostgresSession;
}

/** Minimum interval between reads of the spool's size. */
const levelEveryMs = 500;
const tellEveryMs = 250;
/** A smaller spool is not logged. */
const leastSaidBytes = 32 * 2 ** 20;

/** Connects the disk of a node with PostgreSQL. It runs in the only thread that writes the replica. */
export class ReplicaNode {
  readonly #parts: NodeParts;
  readonly #loop: NodeLoop;
  readonly #sideWork: SideWork;
  #level = { bytes: 0, oldest: undefined as number | undefined, at: Number.NEGATIVE_INFINITY };
  #saidBytes = leastSaidBytes;
  #toldAt = Number.NEGATIVE_INFINITY;
  #toldTrouble: string | undefined = 'nothing reported yet';

  constructor(deps: ReplicaNodeDeps) {
    const link = new Link(deps);
    this.#parts = { ...deps, link, time: new SharedClock(deps.clock), appender: new LogAppender(deps.side) };
    this.#loop = new NodeLoop(this.#parts, {
      level: () => this.#spoolLevel(),
      changed: () => this.#tell(),
    });
    this.#sideWork = new SideWork(this.#parts, this.#loop);
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

  /** Resolves when the log has it. @throws {ApiError} `backpressure` @throws {PostgresError} */
  async mint(mint: LoggedMint): Promise<void> {
    await this.#parts.appender.mint(mint);
  }

  /** Resolves when this node has applied it. @throws {ApiError} `engine_unavailable` @throws {PostgresError} */
  async forget(forgotten: Forgotten): Promise<void> {
    await this.#loop.applied(await this.#parts.appender.append('forget', forgotten));
  }

  /** Resolves when this node has applied it: no later delta restores the data. @throws as above */
  async erase(erased: ErasedThings): Promise<void> {
    await this.#loop.applied(await this.#parts.appender.append('erase', erased));
    this.#sideWork.hurry();
  }

  /** @returns records touched, 0 when nothing is left to do */
  maintain(step: RetentionStep): number {
    return this.#parts.replica.maintain(step);
  }

  /** Ships the rest, after the last packet was acknowledged. @returns whether all of it was shipped */
  async end(): Promise<boolean> {
    const [isShipped] = await Promise.all([this.#loop.end(), this.#sideWork.end()]);
    return isShipped;
  }

  #spoolLevel(): { readonly bytes: number; readonly oldest: number | undefined } {
    const now = this.#parts.clock.monotonic();
    if (now - this.#level.at < levelEveryMs) return this.#level;
    const { bytes, oldest } = this.#parts.spool.level();
    this.#level = { bytes, oldest, at: now };
    this.#watchGrowth(bytes);
    return this.#level;
  }

  /** Logs each doubling of the spool while PostgreSQL is away. */
  #watchGrowth(bytes: number): void {
    if (this.#parts.link.status.connected) this.#saidBytes = Math.max(leastSaidBytes, bytes);
    else if (bytes >= 2 * this.#saidBytes) {
      this.#saidBytes = bytes;
      this.#parts.log.warn('the spool is growing, because PostgreSQL is not available', { bytes });
    }
  }

  #tell(): void {
    const trouble = this.#loop.membership.refuses ?? this.#loop.trouble;
    const now = this.#parts.clock.monotonic();
    if (trouble === this.#toldTrouble && now - this.#toldAt < tellEveryMs) return;
    this.#toldAt = now;
    this.#toldTrouble = trouble;
    this.#parts.main.tell(this.#told());
  }

  #told(): NodeTold {
    const { membership, refusal, trouble, view, completeness, follower } = this.#loop;
    const { isJoined, refuses } = membership;
    const { bytes, oldest } = this.#spoolLevel();
    return {
      isJoined,
      refusal,
      refuses,
      trouble,
      status: {
        directory: this.#parts.facts.directory,
        postgres: this.#parts.link.status,
        nodes: view?.nodes ?? [],
        completeThrough: completeness.through,
        spool: { bytes, maxBytes: this.#parts.maxSpoolBytes, oldestUnshipped: oldest },
        refused: view?.refused ?? { rows: 0, latest: [] },
        rebases: follower.rebases,
        log: this.#sideWork.trimming,
      },
    };
  }
}
