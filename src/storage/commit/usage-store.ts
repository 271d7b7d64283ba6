/**
 * The storage of usage, as a port. On a single machine (`embedded-usage.ts`), commit workers and reports use the same
 * LMDB store. On several machines, commit workers write the counts of this node, and reports read another store with
 * the counts of all nodes.
 *
 * Handlers and upkeep depend on the port only.
 */

import type { Refusal } from '../../contract/errors.ts';
import type { Histogram } from '../../runtime/histogram.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import type { IdentityTables, Mint } from '../lmdb/instances.ts';
import type { Deletion } from '../lmdb/records.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { Batch } from './batch.ts';
import type { Committer } from './committer.ts';
import type { Forgotten } from './envelope.ts';

export interface UsageStore {
  readonly store: UsageTables;
  findPeople(application: number): IdentityTables;
  /**
   * The store that the committers write. Packets refer to series numbers in this store, which also has the messages of
   * the last minutes.
   */
  readonly counted: Pick<UsageTables, 'lmdb' | 'series' | 'messages'>;
  /** The HMAC key of the digests of people: see `digestIdentity`. */
  readonly digestSecret: Buffer;
  /** The committers, one for each lane. Close the committers together with the lanes, and before the store. */
  readonly committers: readonly Committer[];
  /** True if another machine can have issued an instance id that this machine does not know yet. */
  readonly resolvesLater: boolean;
  /**
   * Does one small step of upkeep on the store that reports read. Returns the amount of work done, 0 if nothing is
   * left.
   * @throws {CommitError} if no part of the step was stored
   */
  maintain(application: number, step: Maintenance): Promise<number>;
  /**
   * Resolves when every node can find a new instance id.
   * @param fill adds more records to the batch of this application's packets
   * @throws {Refusal} `store_unavailable`, `postgres_unavailable`. The id then does not exist
   */
  keepMint(mint: Mint, application: number, fill: (batch: Batch) => void): Promise<void>;
  /**
   * Resolves when this node has forgotten a person, and delayed counts of other nodes cannot restore the person.
   * @throws {Refusal} `store_unavailable`, `postgres_unavailable`
   */
  forget(forgotten: Forgotten): Promise<void>;
  /** @param listener called when another node has forgotten a person, which can invalidate cached ids */
  onForgotten(listener: () => void): void;
  /**
   * Resolves when packets of a deleted object can no longer reach the store. The record of the object can then be
   * removed.
   */
  passed(deletion: Deletion): Promise<boolean>;
  /**
   * Resolves when the store has everything that this node has acknowledged. Await this call before a report. On several
   * machines, the result shows how complete the store is.
   * @param people required freshness of the users and exposures: current, a few seconds old, or not read
   * @throws {Refusal} `store_unavailable`, `postgres_unavailable`
   */
  freshen(people?: PeopleFreshness): Promise<Freshness | undefined>;
  /** Returns the refusal of packets for a reason other than the disk, such as `spool_full`. Called for each packet. */
  refusal(): Refusal | undefined;
  /** Texts for people: why packets are not counted, and why accounts cannot be changed or reports cannot be read. */
  readiness(): UsageReadiness;
  /** Delays of the threads other than the committers, in seconds, by name. */
  readonly delays?: Readonly<Record<string, Histogram>>;
  /** The state of the cluster; `undefined` on a single machine. */
  status(): UsageStoreStatus | undefined;
  close(): Promise<void>;
}

export type PeopleFreshness = 'now' | 'recent' | 'any';

export interface Freshness {
  /** Everything that any node acknowledged before this time (Unix ms) is in the store. */
  readonly completeThrough: number;
  /**
   * Nodes that shipped everything and stopped, by name, or by directory if nodes share the name. If such a node was
   * restarted without PostgreSQL, it can have counts that no other node has.
   */
  readonly mayBeCounting: readonly string[];
}

export interface UsageReadiness {
  readonly counting: string | undefined;
  readonly managing: string | undefined;
}

/** State of the cluster, as this node knows it. Times are Unix ms. */
export interface UsageStoreStatus {
  /** The data directory of this node: see `NodeStatus`. */
  readonly directory: string;
  readonly postgres: PostgresLinkStatus;
  /** All nodes including this one, as last read from PostgreSQL. */
  readonly nodes: readonly NodeStatus[];
  /** Everything that any node acknowledged before this time is in this node's reports. */
  readonly completeThrough: number;
  readonly spool: SpoolStatus;
  /** Rows of deltas that could not be applied. */
  readonly refused: { readonly rows: number; readonly latest: readonly RefusedRowStatus[] };
  /** Bytes of data that PostgreSQL has lost and this node has set aside. */
  readonly setAsideBytes: number;
  /** Number of times that this process has replaced its replica by a snapshot. */
  readonly rebases: number;
  readonly log: LogStatus;
}

export interface LogStatus {
  readonly trimmed: number;
  readonly bytes: number;
  /** Time when the oldest remaining entry was appended; `undefined` without entries. */
  readonly oldest: number | undefined;
}

export interface PostgresLinkStatus {
  readonly connected: boolean;
  /** Time of the last change. */
  readonly since: number;
  /** The reason why the node is not connected, for people; empty if the node is connected. */
  readonly reason: string;
  /** Number of commits of this process. `commitMs`: their total duration. `failovers`: changes of the primary. */
  readonly commits: number;
  readonly commitMs: number;
  readonly failovers: number;
}

export interface NodeStatus {
  /** Random id of the node's data directory. `name` is for people; two nodes can share a name. */
  readonly directory: string;
  readonly name: string;
  readonly version: string;
  /** `silent`: no heartbeat for more than ten seconds. `forgotten`: removed permanently. */
  readonly state: 'up' | 'silent' | 'done' | 'forgotten';
  readonly lastBeat: number;
  /** Number of log entries that the node has not applied yet. */
  readonly lag: number;
  readonly spoolBytes: number;
  /** Time of the node's oldest unshipped packet; `undefined` if everything is shipped. */
  readonly oldestUnshipped: number | undefined;
  /** Everything that the node acknowledged before this time is shipped. */
  readonly through: number;
}

/** Counts that this node keeps until PostgreSQL has them. */
interface SpoolStatus {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly oldestUnshipped: number | undefined;
}

interface RefusedRowStatus {
  readonly stream: string;
  /** The section of the log entry that contains the row. */
  readonly place: string;
  readonly reason: string;
  readonly at: number;
}
