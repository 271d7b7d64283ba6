import type { Clock, TimerClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { PostgresLinkStatus, UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { ReplicaSettings } from './entry.ts';
import type { LogAppender } from './log.ts';
import { Availability } from './postgres/availability.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { Run, Statement } from './postgres/session.ts';
import type { SharedClock } from './postgres/shared-clock.ts';
import type { Replica } from './replica.ts';
import type { SealRequest, SealResult } from './seal.ts';
import type { Spool } from './spool.ts';

/** Identity and start of a node. */
export interface NodeFacts {
  /** Random id of the data directory. */
  readonly directory: string;
  /** Path of the data directory, for messages. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly stream: string;
  /** Start time by the node's clock, Unix ms. */
  readonly started: number;
  /** Id of the database that this directory belongs to; `undefined` before the first join. */
  readonly postgresId: string | undefined;
}

/**
 * Reason why a node must not count.
 * - `copied`: its directory is a copy, or was copied. PostgreSQL cannot distinguish the counts of the two processes
 * - `closed`: its stream was closed. Its counts are shipped only after a restart
 */
export type Refuses = 'copied' | 'closed';

/** The state that the node reports to the main thread. */
export interface NodeCondition {
  readonly isJoined: boolean;
  /** Reason why this process must not use this directory with this database. */
  readonly refusal: string | undefined;
  /** Reason why reports and accounts are not served. */
  readonly trouble: string | undefined;
  /** Reason why this node must not count. */
  readonly refuses: Refuses | undefined;
  readonly status: Omit<UsageStoreStatus, 'setAsideBytes'>;
}

/** Calls of a node to the main thread. */
export interface MainThread {
  seal(request: SealRequest): Promise<SealResult>;
  tell(told: NodeCondition): void;
  /** Reports a failed commit of the replica: see `StoreHealth`. */
  storeFailed(error: Error): void;
  /** Saves the content of the replica to files in the data directory: see `SetAside`. */
  setAside(): Promise<unknown>;
  /** Resolves when the main thread has dropped the instance ids of forgotten people. */
  forgotten(): Promise<unknown>;
}

/** Objects that the parts of a node share, in the only thread that writes the replica. */
export interface NodeDeps {
  readonly facts: NodeFacts;
  /** Session of the node loop. */
  readonly link: Link;
  /** Session for work that must not wait for the loop, such as new instance ids and snapshots. */
  readonly side: PostgresSession;
  readonly spool: Spool;
  readonly replica: Replica;
  readonly store: ReplicaStore;
  readonly settings: ReplicaSettings;
  readonly maxSpoolBytes: number;
  /** See `SnapshotDeps.leastBytes`. */
  readonly snapshotBytes: number;
  readonly appender: LogAppender;
  readonly clock: TimerClock;
  readonly time: SharedClock;
  readonly log: Log;
  readonly main: MainThread;
}

interface LinkDeps {
  readonly session: PostgresSession;
  readonly clock: Clock;
  readonly log: Log;
}

const notAsked = 'no query was sent yet';
const messages = {
  away: 'PostgreSQL is not available',
  next: 'packets are counted into the spool; retrying',
  back: 'PostgreSQL is available again',
};

/** A session with PostgreSQL, with its availability and commit figures. */
export class Link extends Availability implements PostgresSession {
  readonly #deps: LinkDeps;
  readonly #figures = { commits: 0, commitMs: 0, failovers: 0 };
  #timeline: string | undefined;

  constructor(deps: LinkDeps) {
    super(deps.clock, deps.log, messages, notAsked);
    this.#deps = deps;
  }

  /** True once a query was sent. */
  get isTried(): boolean {
    return this.trouble !== notAsked;
  }

  get status(): PostgresLinkStatus {
    const { trouble, since } = this;
    return { connected: trouble === undefined, since, reason: trouble ?? '', ...this.#figures };
  }

  query<Row = Record<string, unknown>>(statement: Statement) {
    return this.#metered(() => this.#deps.session.query<Row>(statement));
  }

  transaction<T>(work: (run: Run) => Promise<T> | T): Promise<T> {
    return this.#metered(() => this.#deps.session.transaction(work));
  }

  /** @param timeline changes when another server has become the primary, or the database was restored */
  heard(timeline: string): void {
    this.succeeded();
    if (this.#timeline !== undefined && timeline !== this.#timeline) {
      this.#figures.failovers += 1;
      this.#deps.log.warn('another server is the primary now', { timeline, before: this.#timeline });
    }
    this.#timeline = timeline;
  }

  async #metered<T>(action: () => Promise<T>): Promise<T> {
    const { clock } = this.#deps;
    const began = clock.monotonic();
    const result = await action();
    this.#figures.commits += 1;
    this.#figures.commitMs += clock.monotonic() - began;
    return result;
  }
}

/** Returns the status of a link before its first query. */
export function linkAt(since: number): PostgresLinkStatus {
  return { connected: false, since, reason: notAsked, commits: 0, commitMs: 0, failovers: 0 };
}
