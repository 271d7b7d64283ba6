/** The state of a stream on this node. Its deltas are numbered 1, 2, 3 and so on. */
export interface KnownStream {
  /** Whether this process seals it. If not, an earlier process did, or the original of which this directory is a copy. */
  readonly isOwn: boolean;
  readonly sealed: number;
  readonly acknowledged: number;
  /** The first delta still kept; `sealed + 1` if none is. */
  readonly kept: number;
  digest(seq: number): string | undefined;
}

/** The state of a stream in PostgreSQL: its last delta there. */
export interface PostgresStream {
  readonly seq: number;
  /** Digest of that delta, hex; empty if there is none, or if the stream was restored from a replica: see `putStreams`. */
  readonly digest: string;
  /** Any other than `open` is closed: the log takes no more of it. Earlier versions distinguish `done` from `forgotten`. */
  readonly state: 'open' | 'done' | 'forgotten';
}

export type Decision =
  | { readonly action: 'rest' }
  /** PostgreSQL does not know the stream, or no longer does. */
  | { readonly action: 'register' }
  | { readonly action: 'acknowledge'; readonly seq: number }
  | { readonly action: 'ship'; readonly from: number }
  /** PostgreSQL reverted to an earlier state: ship again from here. */
  | { readonly action: 'shipAgain'; readonly from: number }
  /** What was read may not be replicated: look again after a synchronous commit. */
  | { readonly action: 'confirm' }
  /** Ship nothing of the stream for now, and keep all of it. */
  | { readonly action: 'hold'; readonly why: Held };

/**
 * Why a stream is not shipped.
 * - `foreign`: PostgreSQL has deltas that were not sealed here. The directory is a copy, or was copied
 * - `closed`: it was closed elsewhere. Its remaining deltas are shipped under another stream
 * - `behind`: PostgreSQL reverted to a state before the deltas that are kept here
 */
export type Held = 'foreign' | 'closed' | 'behind';

/**
 * Decides what to do with a stream, by its state on this node and in PostgreSQL. Called when the fence rejected a delta, and at each
 * heartbeat. All cases are here.
 * @param said `undefined` if PostgreSQL has no such stream
 * @param isConfirmed whether a synchronous commit after reading `said` succeeded
 */
export function decide(known: KnownStream, said: PostgresStream | undefined, isConfirmed: boolean): Decision {
  const { sealed, acknowledged, kept, isOwn } = known;
  // Nothing will be shipped of an empty stream, so registering it would only hold back `completeThrough`.
  if (said === undefined && sealed === 0 && !isOwn) return { action: isConfirmed ? 'rest' : 'confirm' };
  if (said === undefined) return { action: 'register' };
  const { seq, state } = said;
  if (isForeign(known, said)) return isConfirmed ? hold('foreign') : { action: 'confirm' };
  if (seq > acknowledged) return { action: 'acknowledge', seq };
  const isClosed = state !== 'open';
  if (seq === sealed && !(isOwn && isClosed)) return { action: 'rest' };
  if (isClosed) return isConfirmed ? hold('closed') : { action: 'confirm' };
  if (seq + 1 < kept) return hold('behind');
  return { action: seq < acknowledged ? 'shipAgain' : 'ship', from: seq + 1 };
}

function hold(why: Held): Decision {
  return { action: 'hold', why };
}

/** Whether PostgreSQL has a delta of this stream that was not sealed here. */
function isForeign(known: KnownStream, { seq, digest }: PostgresStream): boolean {
  if (seq > known.sealed) return true;
  return seq >= known.kept && digest !== '' && known.digest(seq) !== digest;
}
