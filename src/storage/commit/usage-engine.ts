/**
 * Where usage is kept, as a port. `embedded-usage.ts` keeps it in the LMDB of the data directory: there the commit workers write
 * the store that reports read. With an engine that several machines share, the commit workers write what this node has counted,
 * and the store that reports read holds what all nodes have counted.
 *
 * Handlers and upkeep know the port only.
 */

import type { ApiError } from '../../contract/errors.ts';
import type { Histogram } from '../../runtime/histogram.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import type { IdentityTables, Mint } from '../lmdb/instances.ts';
import type { Deletion } from '../lmdb/records.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import type { Batch } from './batch.ts';
import type { Committer } from './committer.ts';
import type { Forgotten } from './envelope.ts';

export interface UsageEngine {
  /** What reports read. */
  readonly store: UsageStore;
  /** Where the instance ids of an application are looked up. */
  peopleOf(application: number): IdentityTables;
  /** What the committers write: it has the numbers of the series that packets refer to, and the messages of the last minutes. */
  readonly counted: Pick<UsageStore, 'lmdb' | 'series' | 'messages'>;
  /** The HMAC key of the digests of people: see `digestIdentity`. */
  readonly digestSecret: Buffer;
  /** One for each lane. They are closed with the lanes, before the engine is. */
  readonly committers: readonly Committer[];
  /** Whether an instance id that is not known here may have been minted on another machine a moment ago. */
  readonly resolvesLater: boolean;
  /**
   * Does one small step of upkeep on what reports read; gives how much it did, 0 when nothing is left to do.
   * @throws {CommitFailed} when nothing of it was kept
   */
  maintain(application: number, step: Maintenance): Promise<number>;
  /**
   * Resolves when an instance id that was minted can be found by every node.
   * @param fill adds more to the batch that this application's packets go with
   * @throws {ApiError} `store_unavailable`, `engine_unavailable`: the id does not exist then
   */
  keepMint(mint: Mint, application: number, fill: (batch: Batch) => void): Promise<void>;
  /**
   * Resolves when a person is forgotten here, and nothing that any node has counted before can bring them back.
   * @throws {ApiError} `store_unavailable`, `engine_unavailable`
   */
  forget(forgotten: Forgotten): Promise<void>;
  /** @param listener is called when another node has forgotten a person: what is remembered of ids may be wrong then */
  onForgotten(listener: () => void): void;
  /** Resolves when no packet of something that was deleted can come to the store any more: its record may go. */
  passed(deletion: Deletion): Promise<boolean>;
  /**
   * Resolves when the store has all that this node has answered; to be awaited before a report. Gives how complete it is where there
   * are several machines.
   * @param people whether the store must have the users and exposures of all that was answered, or of all until a few seconds ago, or
   *   whether they are not read
   * @throws {ApiError} `store_unavailable`, `engine_unavailable`
   */
  freshen(people?: PeopleFreshness): Promise<Freshness | undefined>;
  /** Why no more can be taken in, though the disk takes it: `spool_full`. It is asked for each packet. */
  refusal(): ApiError | undefined;
  /** Why packets are not counted, and why accounts cannot be changed or reports made; for people. */
  readiness(): UsageReadiness;
  /** How late its threads beside the committers come to what is due, seconds, by their names. */
  readonly delays?: Readonly<Record<string, Histogram>>;
  /** `undefined` when there is one machine. */
  status(): UsageEngineStatus | undefined;
  /** Ends what runs in the background; the stores are closed then. */
  close(): Promise<void>;
}

export type PeopleFreshness = 'now' | 'recent' | 'any';

export interface Freshness {
  /** All that any node has answered before this time (Unix ms) is in the store. */
  readonly completeThrough: number;
  /**
   * Nodes that stopped after they had shipped everything, by name, and by directory if several have the name. One that has started since, and cannot reach PostgreSQL, counts
   * what nobody else can know of.
   */
  readonly mayBeCounting: readonly string[];
}

export interface UsageReadiness {
  readonly counting: string | undefined;
  readonly managing: string | undefined;
}

/** How the machines do, as this one knows it. Times are Unix ms. */
export interface UsageEngineStatus {
  /** The data directory of this node: see `NodeStatus`. */
  readonly directory: string;
  readonly engine: EngineLinkStatus;
  /** The other nodes and this one, as the engine last showed them. */
  readonly nodes: readonly NodeStatus[];
  /** All that any node has answered before this time is in the reports of this one. */
  readonly completeThrough: number;
  readonly spool: SpoolStatus;
  /** Rows of deltas that could not be applied. */
  readonly refused: { readonly rows: number; readonly latest: readonly RefusedRowStatus[] };
  /** Bytes of what this node has set aside, because PostgreSQL has lost it. */
  readonly setAsideBytes: number;
  /** How often this process has emptied its replica and loaded a snapshot. */
  readonly rebases: number;
  readonly log: LogStatus;
}

/** The log, as this process has last trimmed it. */
export interface LogStatus {
  /** Entries that this process has trimmed. */
  readonly trimmed: number;
  /** Size of the entries that were left. */
  readonly bytes: number;
  /** When the oldest of them was appended; `undefined` without entries. */
  readonly oldest: number | undefined;
}

/** The way to the engine. */
export interface EngineLinkStatus {
  readonly connected: boolean;
  /** Since when it is so. */
  readonly since: number;
  /** Why not, for people; empty when connected. */
  readonly reason: string;
  /** Commits of this process, what they took together (ms), and how often another primary answered than before. */
  readonly commits: number;
  readonly commitMs: number;
  readonly failovers: number;
}

export interface NodeStatus {
  /** Random id of its data directory; `name` is for people, and two nodes may have the same. */
  readonly directory: string;
  readonly name: string;
  /** Of the program. */
  readonly version: string;
  /** `silent`: no beat for more than ten seconds. `forgotten`: removed for good. */
  readonly state: 'up' | 'silent' | 'done' | 'forgotten';
  readonly lastBeat: number;
  /** Entries of the log that it has not applied yet. */
  readonly lag: number;
  readonly spoolBytes: number;
  /** Since when something waits there to be shipped; `undefined` when nothing does. */
  readonly oldestUnshipped: number | undefined;
  /** What it has answered before this time is shipped. */
  readonly through: number;
}

/** What this node keeps until the engine has it. */
export interface SpoolStatus {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly oldestUnshipped: number | undefined;
}

export interface RefusedRowStatus {
  readonly stream: string;
  /** What the row is part of. */
  readonly place: string;
  readonly reason: string;
  readonly at: number;
}
