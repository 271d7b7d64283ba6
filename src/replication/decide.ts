/**
 * What to do with a stream, by what this node knows of it and what the engine says of it. It is asked when a delta found the
 * fence closed, and at each beat. Every case is here, and nothing is done here.
 */

/** What this node knows of a stream. Deltas are numbered 1, 2, 3 and so on. */
export interface KnownStream {
  /** This process makes its deltas. Otherwise an earlier process did, or the original of which this directory is a copy. */
  readonly isOwn: boolean;
  /** The last delta that was sealed here. */
  readonly sealed: number;
  /** The last delta that is known to be in the engine. */
  readonly acknowledged: number;
  /** The first delta that is still kept here; `sealed + 1` when none is. */
  readonly kept: number;
  /** Digest of a delta that is kept, hex. */
  digest(seq: number): string | undefined;
}

/** What the engine says of a stream: the last delta that it has. */
export interface PostgresStream {
  readonly seq: number;
  /** Of that delta, hex; empty when there is none, or the stream comes from a replica: see `putStreams`. */
  readonly digest: string;
  /** Anything but `open` is closed: nothing more of it gets into the log. Earlier releases tell `done` from `forgotten`. */
  readonly state: 'open' | 'done' | 'forgotten';
}

export type Decision =
  /** Everything is shipped. */
  | { readonly action: 'rest' }
  /** The engine does not know the stream yet, or not any more. */
  | { readonly action: 'register' }
  /** Deltas up to `seq` are in the engine. */
  | { readonly action: 'acknowledge'; readonly seq: number }
  | { readonly action: 'ship'; readonly from: number }
  /** The engine went back: deltas from here on are shipped again. */
  | { readonly action: 'shipAgain'; readonly from: number }
  /** What was read may not be replicated: a synchronous commit, then another look, tells. */
  | { readonly action: 'confirm' }
  /** Nothing of the stream is shipped for now, and all that is kept of it stays. */
  | { readonly action: 'hold'; readonly why: Held };

/**
 * Why nothing of a stream is shipped.
 * - `foreign`: the engine has deltas under it that were not sealed here: the directory is a copy, or was copied
 * - `closed`: someone else closed it; deltas beyond those that the engine has go on under another stream
 * - `behind`: the engine went back to before the deltas that are kept here
 */
export type Held = 'foreign' | 'closed' | 'behind';

/**
 * @param said `undefined` when the engine has no such stream
 * @param isConfirmed whether a synchronous commit was kept after `said` was read
 */
export function decide(known: KnownStream, said: PostgresStream | undefined, isConfirmed: boolean): Decision {
  if (said === undefined) return { action: 'register' };
  const { seq, state } = said;
  const { sealed, acknowledged, kept, isOwn } = known;
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

/** The engine has something else under this stream than this node has made. */
function isForeign(known: KnownStream, { seq, digest }: PostgresStream): boolean {
  if (seq > known.sealed) return true;
  return seq >= known.kept && digest !== '' && known.digest(seq) !== digest;
}
