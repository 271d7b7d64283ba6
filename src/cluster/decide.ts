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
export interface EngineStream {
  readonly seq: number;
  /** Of that delta, hex; empty when there is none, or the stream comes from a replica: see `putStreams`. */
  readonly digest: string;
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
  /** The engine went back to before what is kept: these deltas are lost. */
  | { readonly action: 'skip'; readonly from: number; readonly to: number }
  /** What was read may not be replicated: a synchronous commit, then another look, tells. */
  | { readonly action: 'confirm' }
  /** This directory is an old copy of one that went on: what it kept of this stream is not shipped. */
  | { readonly action: 'setAside' }
  /** The stream was marked as forgotten, or another process uses it: nothing more is shipped, everything is kept. */
  | { readonly action: 'stop'; readonly reason: 'forgotten' | 'notOurs' };

/**
 * @param said `undefined` when the engine has no such stream
 * @param isConfirmed whether a synchronous commit was kept after `said` was read
 */
export function decide(known: KnownStream, said: EngineStream | undefined, isConfirmed: boolean): Decision {
  if (said === undefined) return { action: 'register' };
  if (said.state === 'forgotten') return { action: 'stop', reason: 'forgotten' };
  if (isForeign(known, said)) return isConfirmed ? foreign(known) : { action: 'confirm' };
  const { seq } = said;
  if (seq > known.acknowledged) return { action: 'acknowledge', seq };
  if (seq === known.sealed) return { action: 'rest' };
  if (seq + 1 < known.kept) return { action: 'skip', from: seq + 1, to: known.kept - 1 };
  return { action: seq < known.acknowledged ? 'shipAgain' : 'ship', from: seq + 1 };
}

/** The engine has something else under this stream than this node has made. */
function isForeign(known: KnownStream, { seq, digest, state }: EngineStream): boolean {
  if (seq > known.sealed) return true;
  if (seq >= known.kept && digest !== '' && known.digest(seq) !== digest) return true;
  // A stream is done when all of it is shipped: there can be no more of it.
  return state === 'done' && seq < known.sealed;
}

/** What this process has acknowledged is never set aside. */
function foreign({ isOwn }: KnownStream): Decision {
  return isOwn ? { action: 'stop', reason: 'notOurs' } : { action: 'setAside' };
}
