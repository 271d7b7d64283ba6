import { createHash } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { Forgotten } from '../storage/commit/envelope.ts';
import { digestOfInstance, type Mint } from '../storage/lmdb/instances.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import type { LogEntry, Whole } from './postgres/follower.ts';
import type { ReplicaSettings } from './settings.ts';

/** A later version may know more of them. */
export type EntryKind = 'delta' | keyof EntryBodies;

/** An entry of the log of usage, as PostgreSQL holds it. */
export interface StoredEntry extends LogEntry<Buffer> {
  readonly kind: EntryKind;
  /** Of a delta; empty for other kinds. */
  readonly stream: string;
  readonly seq: number;
}

/**
 * An entry that all nodes apply, in the order of positions. The last entry that a replica has applied is all that says what it
 * holds.
 */
export type Entry = Whole<StoredEntry>;

/** An instance id that was minted, by its hash: who reads the log cannot use the id. */
export interface LoggedMint extends Omit<Mint, 'instanceId'> {
  /** See `digestIdentity`. */
  readonly digest: Uint8Array;
  /** SHA-256 of the id. */
  readonly hash: Uint8Array;
}

/** Up to where all streams have come: what a replica remembers from before it may go. */
export interface Horizon {
  /** All streams have shipped what they answered before this time (Unix ms). */
  readonly through: number;
  /** All streams fill deltas that they began after they had applied this position. */
  readonly since: number;
  /** The engine's clock, Unix ms: what has passed its retention by then goes, on every node alike. */
  readonly now: number;
  /** The streams that go on. What only the others needed may go. */
  readonly open: readonly string[];
  /** What PostgreSQL knows of nodes, for the case that it is lost. */
  readonly nodes: readonly LoggedNode[];
}

/** A row of `fm_node`, and the open streams of its directory. */
export interface LoggedNode {
  readonly directory: string;
  readonly name: string;
  readonly state: string;
  /** When it was last heard from, Unix ms. Earlier versions do not log it. */
  readonly beat?: number;
  readonly streams: readonly string[];
}

/** What is erased of an application: see `Deletion`. */
export type ErasedThings = Pick<Deletion, 'application' | 'environments' | 'whole'>;

/** The bodies of entries, by kind. Those of deltas are in `delta.ts`. */
export interface EntryBodies {
  /** Mints that waited together. */
  readonly mint: readonly LoggedMint[];
  readonly forget: Forgotten;
  readonly erase: ErasedThings;
  readonly settings: ReplicaSettings;
  readonly horizon: Horizon;
}

const packr = new Packr({ useRecords: false });

/** Encodes the body of an entry. */
export function encodeBody<Kind extends keyof EntryBodies>(kind: Kind, body: EntryBodies[Kind]): Buffer {
  return kind === 'settings' ? Buffer.from(JSON.stringify(body)) : packr.pack(body);
}

/** Decodes what `encodeBody` has encoded; another version may have done it. */
export function decodeBody<Kind extends keyof EntryBodies>(kind: Kind, body: Buffer): EntryBodies[Kind] {
  return kind === 'settings' ? JSON.parse(body.toString()) : packr.unpack(body);
}

/** What the log says of a mint. */
export function loggedMint({ instanceId, ...mint }: Mint): LoggedMint {
  const digest = digestOfInstance(instanceId);
  if (digest === undefined) throw new Error('Cannot log a mint: its instance id has another form');
  return { ...mint, digest, hash: createHash('sha256').update(instanceId).digest() };
}
