import type { TimerClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { ReplicaStore } from '../storage/lmdb/replica-store.ts';
import type { Link } from './link.ts';
import type { LogAppender } from './log.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { SharedClock } from './postgres/shared-clock.ts';
import type { Replica } from './replica.ts';
import type { SealOutcome, SealRequest } from './seal.ts';
import type { ReplicaSettings } from './settings.ts';
import type { Spool } from './spool.ts';

/** How a node is known in the engine. */
export interface NodeFacts {
  /** Random id of the data directory. */
  readonly directory: string;
  /** Of the data directory, for people. */
  readonly path: string;
  /** Label for people. */
  readonly name: string;
  /** Of the program. */
  readonly version: string;
  /** Of this process. */
  readonly stream: string;
  /** When the process began, by the node's clock, Unix ms. */
  readonly started: number;
  /** The engine that this directory has used before. */
  readonly engine: string | undefined;
}

/**
 * Why a node must not count.
 * - `copied`: its directory is a copy, or was copied: what it counts could not be told from what the other counts
 * - `closed`: its stream was closed: what it counts is shipped only after a restart
 */
export type Refuses = 'copied' | 'closed';

/** What the node tells the main thread of itself. */
export interface NodeTold {
  readonly isJoined: boolean;
  /** This process must not use this directory with this engine. */
  readonly refusal: string | undefined;
  /** Why reports and accounts are not served. */
  readonly trouble: string | undefined;
  /** Why this node may not count: see `NodeLoop.refuses`. */
  readonly refuses: Refuses | undefined;
  readonly status: Omit<UsageStoreStatus, 'setAsideBytes'>;
}

/** What a node asks of the main thread. */
export interface MainThread {
  /** Asks the spool worker. */
  seal(request: SealRequest): Promise<SealOutcome>;
  /** Is told what others want to know, whenever that may have changed. */
  tell(told: NodeTold): void;
  /** The store of the replica failed, as its commits say: see `StoreHealth`. */
  storeFailed(error: Error): void;
  /** Keeps what the replica holds, in the data directory: see `SetAside`. */
  setAside(): Promise<unknown>;
  /** Resolves when it does not remember instance ids of those who were forgotten. */
  forgotten(): Promise<unknown>;
}

/** What the parts of a node share, in the thread that alone writes the replica. */
export interface NodeParts {
  readonly facts: NodeFacts;
  /** For what the loop does. */
  readonly link: Link;
  /** For what must not wait for the loop: mints, snapshots. */
  readonly side: PostgresSession;
  readonly spool: Spool;
  readonly replica: Replica;
  /** Of the replica, for reading. */
  readonly store: ReplicaStore;
  /** Those of this node. */
  readonly settings: ReplicaSettings;
  readonly maxSpoolBytes: number;
  /** See `SnapshotDeps`. */
  readonly snapshotBytes: number;
  readonly appender: LogAppender;
  readonly clock: TimerClock;
  /** PostgreSQL's clock, as each heartbeat reports it. */
  readonly time: SharedClock;
  readonly log: Log;
  readonly main: MainThread;
}
