import type { TimerClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { UsageStoreStatus } from '../storage/commit/usage-store.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { Link } from './link.ts';
import type { LogAppender } from './log.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { SharedClock } from './postgres/shared-clock.ts';
import type { Replica } from './replica.ts';
import type { SealOutcome, SealRequest } from './seal.ts';
import type { ReplicaSettings } from './settings.ts';
import type { Spool } from './spool.ts';

/** Identity of a node. */
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
  readonly engine: string | undefined;
}

/**
 * Why a node must not count.
 * - `copied`: its directory is a copy, or was copied. Its counts cannot be told apart from the other's
 * - `closed`: its stream was closed. Its counts are shipped only after a restart
 */
export type Refuses = 'copied' | 'closed';

/** The state that the node reports to the main thread. */
export interface NodeTold {
  readonly isJoined: boolean;
  /** Why this process must not use this directory with this database. */
  readonly refusal: string | undefined;
  /** Why reports and accounts are not served. */
  readonly trouble: string | undefined;
  /** Why this node may not count. */
  readonly refuses: Refuses | undefined;
  readonly status: Omit<UsageStoreStatus, 'setAsideBytes'>;
}

/** What a node calls on the main thread. */
export interface MainThread {
  seal(request: SealRequest): Promise<SealOutcome>;
  tell(told: NodeTold): void;
  /** Reports a failed commit of the replica: see `StoreHealth`. */
  storeFailed(error: Error): void;
  /** Keeps the content of the replica in the data directory: see `SetAside`. */
  setAside(): Promise<unknown>;
  /** Resolves when the main thread has dropped the instance ids of forgotten people. */
  forgotten(): Promise<unknown>;
}

/** Shared by the parts of a node, in the only thread that writes the replica. */
export interface NodeParts {
  readonly facts: NodeFacts;
  /** For the loop. */
  readonly link: Link;
  /** For everything that must not wait for the loop, such as mints and snapshots. */
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
