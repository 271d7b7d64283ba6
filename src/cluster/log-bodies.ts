import { createHash } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { Forgotten } from '../commit/envelope.ts';
import { digestOfInstance, type Mint } from '../store/instances.ts';
import type { Deletion } from '../store/records.ts';

/** The bodies of the entries that are no deltas. */

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
  readonly streams: readonly string[];
}

const packr = new Packr({ useRecords: false });

/** What the log says of a mint. */
export function loggedMint({ instanceId, ...mint }: Mint): LoggedMint {
  const digest = digestOfInstance(instanceId);
  if (digest === undefined) throw new Error('Cannot log a mint: its instance id has another form');
  return { ...mint, digest, hash: createHash('sha256').update(instanceId).digest() };
}

/** The body of an entry of kind `mint`: mints that waited together. */
export function encodeMints(mints: readonly LoggedMint[]): Buffer {
  return packr.pack(mints);
}

/** Reads what `encodeMints` wrote. */
export function decodeMints(body: Buffer): LoggedMint[] {
  return packr.unpack(body) as LoggedMint[];
}

/** The body of an entry of kind `forget`. */
export function encodeForgotten(forgotten: Forgotten): Buffer {
  return packr.pack(forgotten);
}

/** Reads what `encodeForgotten` wrote. */
export function decodeForgotten(body: Buffer): Forgotten {
  return packr.unpack(body) as Forgotten;
}

/** What is erased of an application: see `Deletion`. */
export type Erased = Pick<Deletion, 'application' | 'environments' | 'whole'>;

/** The body of an entry of kind `erase`. */
export function encodeErased({ application, environments, whole }: Erased): Buffer {
  return packr.pack({ application, environments, whole } satisfies Erased);
}

/** Reads what `encodeErased` wrote. */
export function decodeErased(body: Buffer): Erased {
  return packr.unpack(body) as Erased;
}

/** The body of an entry of kind `horizon`. */
export function encodeHorizon(horizon: Horizon): Buffer {
  return packr.pack(horizon);
}

/** Reads what `encodeHorizon` wrote. */
export function decodeHorizon(body: Buffer): Horizon {
  return packr.unpack(body) as Horizon;
}
