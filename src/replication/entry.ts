import { createHash } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { Forgotten } from '../storage/commit/envelope.ts';
import type { SeriesLimits } from '../storage/commit/series-dictionary.ts';
import type { Retention } from '../storage/lmdb/blocks.ts';
import { digestOfInstance, type Mint } from '../storage/lmdb/instances.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import type { LogEntry, Whole } from './postgres/follower.ts';

/** The kind of an entry. Later versions can have more kinds. */
export type EntryKind = 'delta' | keyof EntryBodies;

/** An entry of the log of usage, as PostgreSQL holds it. */
export interface StoredEntry extends LogEntry<Buffer> {
  readonly kind: EntryKind;
  /** Stream of a delta; empty for other kinds. */
  readonly stream: string;
  readonly seq: number;
}

/** An entry to apply. All nodes apply all entries in order, so the last applied entry determines a node's content. */
export type Entry = Whole<StoredEntry>;

/** A new (minted) instance id. The log contains only its hash, so that readers of the log cannot use the id. */
export interface LoggedMint extends Omit<Mint, 'instanceId'> {
  /** See `digestIdentity`. */
  readonly digest: Uint8Array;
  /** SHA-256 of the id. */
  readonly hash: Uint8Array;
}

/** The progress of all streams. Replicas use it to drop data that only earlier deltas need. */
export interface Horizon {
  /** All streams have shipped the packets that they acknowledged before this time (Unix ms). */
  readonly through: number;
  /** All nodes had applied this position of the log when they began their current deltas. */
  readonly since: number;
  /** PostgreSQL's time, Unix ms. Every node applies retention by this time. */
  readonly now: number;
  /** The open streams. Replicas can drop data that only other streams need. */
  readonly open: readonly string[];
  /** The nodes. A database that replaces a lost database gets its nodes from this list. */
  readonly nodes: readonly LoggedNode[];
}

/** A row of `fm_node`, and the open streams of its directory. */
export interface LoggedNode {
  readonly directory: string;
  readonly name: string;
  readonly state: string;
  /** Time of the last heartbeat, Unix ms. Earlier versions do not log it. */
  readonly beat?: number;
  readonly streams: readonly string[];
}

/** The erased parts of an application: see `Deletion`. */
export type ErasedThings = Pick<Deletion, 'application' | 'environments' | 'whole'>;

/** The body of each kind of entry, except deltas. */
export interface EntryBodies {
  /** The new instance ids of one commit. */
  readonly mint: readonly LoggedMint[];
  readonly forget: Forgotten;
  readonly erase: ErasedThings;
  readonly settings: ReplicaSettings;
  readonly horizon: Horizon;
}

const packr = new Packr({ useRecords: false });

/** Encodes the body of an entry other than a delta. */
export function encodeBody<Kind extends keyof EntryBodies>(kind: Kind, body: EntryBodies[Kind]): Buffer {
  return kind === 'settings' ? Buffer.from(JSON.stringify(body)) : packr.pack(body);
}

/** Decodes a body, which another version might have encoded. */
export function decodeBody<Kind extends keyof EntryBodies>(kind: Kind, body: Buffer): EntryBodies[Kind] {
  return kind === 'settings' ? JSON.parse(body.toString()) : packr.unpack(body);
}

/** Converts a new instance id (mint) to its form in the log, where the id is hashed. */
export function loggedMint({ instanceId, ...mint }: Mint): LoggedMint {
  const digest = digestOfInstance(instanceId);
  if (digest === undefined) throw new Error('Cannot log a mint: the form of its instance id is unknown');
  return { ...mint, digest, hash: createHash('sha256').update(instanceId).digest() };
}

/** Settings that determine the content of replicas. The last settings in the log apply to all nodes. */
export interface ReplicaSettings extends SeriesLimits, Retention {
  /** Maximum number of people per environment whose exposures are kept. */
  readonly identities: number;
  readonly exposureDays: number;
}

/** The defaults of the service, used until the log has settings. */
export const defaultSettings: ReplicaSettings = {
  features: 2_000,
  variants: 64,
  metrics: 1_000,
  identities: 100_000,
  minutesMs: 48 * 3_600_000,
  hoursMs: 90 * 86_400_000,
  daysMs: 1_826 * 86_400_000,
  exposureDays: 30,
};

const names = Object.keys(defaultSettings) as (keyof ReplicaSettings)[];

export function sameSettings(one: ReplicaSettings, other: ReplicaSettings): boolean {
  return names.every((name) => one[name] === other[name]);
}

/**
 * Returns the valid settings after an entry that contains settings.
 * @param before the current values, for settings that an entry of an earlier version lacks
 * @throws {Error} if a setting is invalid
 */
export function settingsAfter(before: ReplicaSettings, said: Partial<ReplicaSettings>): ReplicaSettings {
  const settings = { ...before, ...said };
  if (names.some((name) => !(Number.isSafeInteger(settings[name]) && settings[name] >= 0))) {
    throw new Error('a setting is not a whole number');
  }
  return settings;
}
