import type { LedgerLine } from '../store/ledger.ts';
import type { Sender } from '../store/senders.ts';
import type { NewSeries } from '../store/series.ts';

/**
 * What a stream has counted since its delta before. A stream is one process of a node, from its start to its end. Series are
 * named by the refs of the node's spool (see `seriesRef`): `series` has the names of those that this stream refers to for the
 * first time; it may repeat a name. Rows of numbers are flat.
 */
export interface Delta {
  readonly stream: string;
  /** The deltas of a stream are numbered 1, 2, 3 and so on. */
  readonly seq: number;
  /** The position of the log that the node had applied when it began to fill this delta. */
  readonly since: number;
  /** The version of the accounts that the node had when it sealed this delta. */
  readonly version: number;
  /** What the stream has answered before this time (Unix ms) is in this delta or in an earlier one. */
  readonly through: number;
  readonly series: readonly NewSeries[];
  /** `ref, bucket, checks, used, viewed` */
  readonly counts: readonly number[];
  /** `ref, bucket, sum, count, last, lastAt, min, max` */
  readonly measurements: readonly number[];
  readonly sketches: readonly SketchPart[];
  /** `ref, first minute, last minute` */
  readonly seen: readonly number[];
  readonly exposures: readonly PersonExposures[];
  readonly messages: readonly CountedMessage[];
  readonly senders: readonly SeenBy[];
  readonly ledger: readonly LedgerLine[];
  readonly uses: readonly InstanceUsed[];
  readonly unresolved: readonly UnresolvedInstance[];
}

/** A body that is no delta of a format that this program knows, or one with a number, length or name that no node writes. */
export class DeltaUnreadable extends Error {
  override readonly name = 'DeltaUnreadable';
}

/** What a delta says of itself. */
export type DeltaHead = Pick<Delta, 'stream' | 'seq' | 'since' | 'version' | 'through'>;

/** What was counted, in lists that are to be filled. */
export type DeltaContent = {
  -readonly [K in keyof Omit<Delta, keyof DeltaHead>]: Delta[K] extends readonly (infer E)[] ? E[] : never;
};

/** Nothing was counted. */
export function emptyContent(): DeltaContent {
  return {
    series: [],
    counts: [],
    measurements: [],
    sketches: [],
    seen: [],
    exposures: [],
    messages: [],
    senders: [],
    ledger: [],
    uses: [],
    unresolved: [],
  };
}

/** A chunk of a sketch with the users of this delta, as `writeChunk` encodes it. */
export interface SketchPart {
  readonly ref: number;
  readonly day: number;
  readonly chunk: number;
  readonly value: Uint8Array;
}

/** The variants that a person was given in one environment. */
export interface PersonExposures {
  readonly environment: number;
  /** See `digestIdentity`. */
  readonly digest: Uint8Array;
  /** `ordinal, first seconds, last seconds, checks, used, viewed` */
  readonly rows: readonly number[];
}

/** A message that counts once, however many nodes it was sent to: what it brings is kept apart until that is decided. */
export interface CountedMessage {
  readonly identity: Uint8Array;
  /** Unix ms. */
  readonly at: number;
  /** `ref, bucket, checks, used, viewed` */
  readonly counts: readonly number[];
  /** `ref, bucket, value, at` */
  readonly measurements: readonly number[];
  /** `ref, minute, high, low` */
  readonly users: readonly number[];
  readonly exposures: readonly PersonExposures[];
  readonly unresolved: readonly UnresolvedInstance[];
}

/** A sender, and the slots in which it asked for a feature or sent anything at all: see `SenderSight`. */
export interface SeenBy extends Sender {
  readonly environment: number;
  readonly ordinal: number;
  readonly first: number;
  readonly last: number;
}

/** An instance id that was used, which extends its life. */
export interface InstanceUsed {
  readonly application: number;
  readonly digest: Uint8Array;
  /** SHA-256 of the id. */
  readonly hash: Uint8Array;
  /** Unix ms. */
  readonly expiresAt: number;
}

/** What came with an instance id that the node did not know: another node may have minted it a moment ago. */
export interface UnresolvedInstance {
  readonly application: number;
  readonly environment: number;
  readonly digest: Uint8Array;
  /** SHA-256 of the id. */
  readonly hash: Uint8Array;
  /** Unix seconds. */
  readonly seconds: number;
  /** `ref, minute, checks, used, viewed`; the environment as a whole is among the refs, with no counts. */
  readonly rows: readonly number[];
}
