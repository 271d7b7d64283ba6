import type { InstanceUse, Mint } from '../store/instances.ts';
import type { LedgerLine } from '../store/ledger.ts';
import type { NewSeries } from '../store/series.ts';

/** Doubles a record takes in an envelope's arrays. */
export const recordWidth = 5;

/** An identity of which nothing is to be kept. */
export interface Forgotten {
  /** Numbers of the application and of its environments. */
  readonly application: number;
  readonly environments: readonly number[];
  /** Digest of the identity (see `digestIdentity`), hex. */
  readonly digest: string;
}

/**
 * One batch on its way to an aggregate worker. The arrays lie in shared memory, so they are neither cloned nor
 * transferred; they are longer than what is used of them, and the sender leaves them alone until the commit is over.
 */
export interface Envelope {
  /** Records of `[series ref, bucket of time, checks, used, viewed]`. */
  readonly counts: Float64Array;
  readonly countRecords: number;
  /** Records of `[series ref, bucket of time, value, time in Unix ms, 0]`. */
  readonly measurements: Float64Array;
  readonly measurementRecords: number;
  /** Records of `[series ref, minute since the epoch, high and low half of the user's hash, 0]`. */
  readonly users: Float64Array;
  readonly userRecords: number;
  /**
   * What people were given: a record of `[-1, digest of the identity as four u32]` for a person, followed by records of
   * `[series ref, Unix seconds, checks, used, viewed]`.
   */
  readonly exposures: Float64Array;
  readonly exposureRecords: number;
  /** Names that this batch is the first to refer to. */
  readonly series: readonly NewSeries[];
  /**
   * Records of `[time in Unix ms, four words of the identity]`: messages that must not count again. One with a negative
   * time, -1 - the message's, says that the message is to be deleted.
   */
  readonly messages: Float64Array;
  readonly messageRecords: number;
  /** Instance ids that were minted, in the order in which they were. */
  readonly mints: readonly Mint[];
  /** Instance ids that live longer because they were used. */
  readonly uses: readonly InstanceUse[];
  /** Identities to be forgotten, with what this batch itself says of them. */
  readonly forgotten: readonly Forgotten[];
  /** What became of this batch's packets, and of earlier ones that were refused. */
  readonly ledger: readonly LedgerLine[];
}
