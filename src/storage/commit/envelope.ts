import type { HashedId, HashedMint, HashedUse } from '../lmdb/instances.ts';
import type { LedgerLine } from '../lmdb/ledger.ts';
import type { SenderSight } from '../lmdb/senders.ts';
import type { NewSeries } from '../lmdb/series.ts';
import type { RecordRange, SealedRecords } from './records/record-buffer.ts';

/** An identity whose data is to be deleted. */
export interface Forgotten {
  /** Numbers of the application and of its environments. */
  readonly application: number;
  readonly environments: readonly number[];
  /** Digest of the identity (see `digestIdentity`), hex. */
  readonly digest: string;
}

/** A use of an instance id that is unknown on this machine. Another machine may have minted it a moment ago. */
export interface UnresolvedUse {
  /** Numbers of the application and the environment. */
  readonly application: number;
  readonly environment: number;
  readonly instanceId: string;
  /** Unix seconds. */
  readonly seconds: number;
  /** `ref, minute, checks, used, viewed`, flat. The environment as a whole has a ref here, with zero counts. */
  readonly rows: number[];
}

/** The same, with the instance id replaced by its hash. */
export type HashedUnresolvedUse = HashedId & Omit<UnresolvedUse, 'instanceId'>;

/** Ranges of records that are processed one message at a time, not in bulk with the rest of their kind. */
export interface Apart {
  readonly counts: readonly RecordRange[];
  readonly measurements: readonly RecordRange[];
  readonly users: readonly RecordRange[];
  readonly exposures: readonly RecordRange[];
}

/**
 * A sealed batch on its way to a worker. It is cloned, except for the arrays of records. Those are shared, and the sender does
 * not change them until the commit ends. Kinds without records are omitted.
 */
export interface Envelope {
  /** Number of the batch: see `RecordArrays`. */
  readonly batch: number;
  readonly counts: SealedRecords | undefined;
  readonly measurements: SealedRecords | undefined;
  readonly users: SealedRecords | undefined;
  readonly exposures: SealedRecords | undefined;
  readonly messages: SealedRecords | undefined;
  /** New series, defined by this batch. */
  readonly series: readonly NewSeries[];
  /** Instance ids that were minted, in order. */
  readonly mints: readonly HashedMint[];
  /** Instance ids whose lifetime is extended by their use. */
  readonly uses: readonly HashedUse[];
  readonly unresolved: readonly HashedUnresolvedUse[];
  /** Identities to be forgotten, including what this batch reports about them. */
  readonly forgotten: readonly Forgotten[];
  /** Senders seen for the first time in their ten minutes. */
  readonly senders: readonly SenderSight[];
  /** Outcomes of this batch's packets, and of earlier packets that were refused. */
  readonly ledger: readonly LedgerLine[];
  /** Set by the worker if each message is processed separately. */
  readonly apart?: Apart;
}
