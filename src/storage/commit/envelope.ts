import type { HashedId, HashedMint, HashedUse } from '../lmdb/instances.ts';
import type { LedgerLine } from '../lmdb/ledger.ts';
import type { SenderSight } from '../lmdb/senders.ts';
import type { NewSeries } from '../lmdb/series.ts';
import type { RecordRange, SealedRecords } from './records/record-buffer.ts';

/** An identity of which nothing is to be kept. */
export interface Forgotten {
  /** Numbers of the application and of its environments. */
  readonly application: number;
  readonly environments: readonly number[];
  /** Digest of the identity (see `digestIdentity`), hex. */
  readonly digest: string;
}

/** What came with an instance id that is not known here, and that another machine may have minted a moment ago. */
export interface UnresolvedUse {
  /** Numbers of the application and the environment. */
  readonly application: number;
  readonly environment: number;
  readonly instanceId: string;
  /** Unix seconds. */
  readonly seconds: number;
  /** `ref, minute, checks, used, viewed`, flat; the environment as a whole is among the refs, with no counts. */
  readonly rows: number[];
}

/** The same, without what could be used as an id. */
export type HashedUnresolvedUse = HashedId & Omit<UnresolvedUse, 'instanceId'>;

/** Ranges of records that are read one by one, and not with the rest of their kind. */
export interface Apart {
  readonly counts: readonly RecordRange[];
  readonly measurements: readonly RecordRange[];
  readonly users: readonly RecordRange[];
  readonly exposures: readonly RecordRange[];
}

/**
 * A sealed batch on its way to a worker. It is cloned, except for the arrays of records: these are shared, and the sender
 * leaves them alone until the commit is over. A kind of which there are no records is not there.
 */
export interface Envelope {
  /** Number of the batch: see `RecordArrays`. */
  readonly batch: number;
  readonly counts: SealedRecords | undefined;
  readonly measurements: SealedRecords | undefined;
  readonly users: SealedRecords | undefined;
  readonly exposures: SealedRecords | undefined;
  readonly messages: SealedRecords | undefined;
  /** Names that this batch is the first to refer to. */
  readonly series: readonly NewSeries[];
  /** Instance ids that were minted, in the order in which they were. */
  readonly mints: readonly HashedMint[];
  /** Instance ids that live longer because they were used. */
  readonly uses: readonly HashedUse[];
  readonly unresolved: readonly HashedUnresolvedUse[];
  /** Identities to be forgotten, with what this batch itself says of them. */
  readonly forgotten: readonly Forgotten[];
  /** Senders that were seen for the first time in their ten minutes. */
  readonly senders: readonly SenderSight[];
  /** What became of this batch's packets, and of earlier ones that were refused. */
  readonly ledger: readonly LedgerLine[];
  /** Set by the worker where each message is kept apart. */
  readonly apart?: Apart;
}
