import type { StreamRecord } from '../storage/lmdb/usage.ts';
import { closeStream, hashDelta, register, ship } from './log.ts';
import type { NodeDeps } from './node-deps.ts';
import type { SealTask } from './seal.ts';
import type { SealedDelta } from './spool.ts';

/** Maximum number of deltas in one transaction. */
const maxDeltas = 16;
const maxBytes = 4 * 1024 * 1024;

const heldOwn: Readonly<Record<HoldReason, string>> = {
  foreign:
    'PostgreSQL has other deltas under the stream of this process: another process used a copy of its directory. This node keeps its counts and counts nothing more; start a node with an empty directory in its place',
  closed:
    'the stream of this process was closed elsewhere, for example by flagmeter postgres forget-node: this node counts nothing until it is restarted, and then ships its remaining counts',
  behind:
    'PostgreSQL has older data than this node, which therefore counts but ships nothing. Restore a newer backup, or fill a new database with flagmeter postgres adopt --from-replica. To accept the loss, stop this node, run flagmeter postgres forget-node for it, and start it',
};

const heldEarlier: Readonly<Record<HoldReason, string>> = {
  ...heldOwn,
  foreign:
    'PostgreSQL has deltas of an earlier process that are not in this directory: it is an outdated copy, or a copy of it was used. This node keeps its counts and counts nothing more; start a node with an empty directory in its place',
  closed:
    'the stream of an earlier process was closed elsewhere, for example by flagmeter postgres forget-node: its remaining counts are shipped under another stream',
};

const closedUnknown =
  'closed a stream of this directory that is not in it: a process with a copy of the directory has shipped nothing of it';
const unknown =
  'PostgreSQL waits for a stream of this directory that is not in it, so reports are not complete: start the copy of the directory that has it, or, if it is lost, run flagmeter postgres forget-node for this node, which continues';

/** A stream of this directory: its sealed deltas, its state in PostgreSQL, and its next action. */
class Stream implements KnownStream {
  readonly isOwn: boolean;
  readonly #deps: NodeDeps;
  #record: StreamRecord;
  acknowledged: number;
  #acknowledgedAt = 0;
  held: HoldReason | undefined;
  #isDone: boolean;
  isKnown = false;

  constructor(record: StreamRecord, isOwn: boolean, deps: NodeDeps) {
    this.isOwn = isOwn;
    this.#deps = deps;
    this.#record = record;
    this.acknowledged = record.acknowledged;
    this.#isDone = record.state === 'done';
  }

  get stream(): string {
    return this.#record.stream;
  }

  get sealed(): number {
    return this.#record.sealed;
  }

  get kept(): number {
    return this.#record.first;
  }

  get news(): Required<Pick<SealTask, 'acknowledged' | 'finished'>> {
    const { stream, acknowledged, state } = this.#record;
    const isMore = this.acknowledged > acknowledged;
    return {
      acknowledged: isMore ? [{ stream, seq: this.acknowledged, at: this.#acknowledgedAt }] : [],
      finished: this.#isDone && state !== 'done' ? [stream] : [],
    };
  }

  /** True if, as far as known, PostgreSQL has all deltas of the stream. */
  get isShipped(): boolean {
    return this.acknowledged === this.sealed && this.held !== 'foreign';
  }

  get waiting(): number {
    return this.held === undefined ? this.sealed - this.acknowledged : 0;
  }

  digest(seq: number): string | undefined {
    const delta = this.#delta(seq);
    return delta && hashDelta(delta.body).toString('hex');
  }

  #delta(seq: number): SealedDelta | undefined {
    const [delta] = this.#deps.spool.deltas(this.stream, seq, 1);
    return delta?.seq === seq ? delta : undefined;
  }

  /** Updates the record from the spool. The spool keeps no record of a stream that was done more than an hour ago. */
  update(record: StreamRecord = { ...this.#record, first: this.sealed + 1, state: 'done' }): void {
    this.#record = record;
  }

  async settle(said: PostgresStream | undefined, at: number, isConfirmed: boolean): Promise<void> {
    const decision = decide(this, said, isConfirmed);
    if (decision.action !== 'confirm' && decision.action !== 'hold') this.held = undefined;
    await this.#execute(decision, said, at);
    this.isKnown = ['rest', 'ship', 'shipAgain'].includes(decision.action);
  }

  /**
   * Ships the next deltas.
   * @returns true if deltas were shipped; false if no deltas are left, or PostgreSQL must be queried first
   * @throws {PostgresError}
   */
  async shipNext(): Promise<boolean> {
    if (!this.isKnown || this.waiting === 0) return false;
    const deltas = this.#next();
    if (deltas.length === 0) return false;
    this.isKnown = false; // PostgreSQL's state is unknown until the result arrives.
    const at = await ship(this.#deps.link, this.stream, deltas, this.#delta(deltas[0]!.seq - 1));
    if (at === undefined) return false;
    this.isKnown = true;
    this.#acknowledge(deltas.at(-1)!.seq, at);
    return true;
  }

  async #execute(decision: Decision, said: PostgresStream | undefined, at: number): Promise<void> {
    const { facts, link, log } = this.#deps;
    const { stream } = this;
    switch (decision.action) {
      case 'register':
        if (this.acknowledged > 0) log.warn('PostgreSQL no longer knows a stream', { stream });
        return register(link, stream, facts.directory);
      case 'acknowledge':
        return this.#acknowledge(decision.seq, at);
      case 'shipAgain':
        log.warn('PostgreSQL reverted to an earlier state: shipping deltas again', {
          stream,
          from: decision.from,
          to: this.acknowledged,
        });
        this.acknowledged = decision.from - 1;
        return;
      case 'hold':
        return this.#hold(decision.why, said!.seq);
      case 'rest':
        return this.#finish(said);
    }
  }

  async #finish(said: PostgresStream | undefined): Promise<void> {
    if (this.isOwn) return;
    const { stream } = this;
    const { link, log } = this.#deps;
    if (said?.state === 'open') {
      this.#isDone = (await link.query(closeStream(stream, said.seq))).rowCount > 0;
      log.info('all counts of an earlier process are shipped', { stream, deltas: said.seq });
    } else this.#isDone = true;
  }

  #hold(why: HoldReason, seq: number): void {
    if (why !== 'foreign') this.acknowledged = seq;
    if (this.held === why) return;
    this.held = why;
    const { stream, isOwn, sealed } = this;
    this.#deps.log.error((isOwn ? heldOwn : heldEarlier)[why], { stream, sealed, postgresHas: seq });
  }

  #acknowledge(seq: number, at: number): void {
    this.acknowledged = seq;
    this.#acknowledgedAt = at;
  }

  #next(): SealedDelta[] {
    const kept = this.#deps.spool.deltas(this.stream, this.acknowledged + 1, maxDeltas);
    let bytes = 0;
    const end = kept.findIndex(({ body }, index) => {
      bytes += body.length;
      return index > 0 && bytes > maxBytes;
    });
    return end < 0 ? kept : kept.slice(0, end);
  }
}

/** The streams of a data directory, of this process and of earlier processes. */
export class Streams {
  readonly #deps: NodeDeps;
  readonly all: Stream[] = [];
  readonly own: Stream;
  /** Unknown streams that were logged. */
  readonly #reported = new Set<string>();

  constructor(deps: NodeDeps) {
    this.#deps = deps;
    this.update();
    this.own = this.all.find(({ isOwn }) => isOwn)!;
  }

  update(): void {
    const { facts, spool } = this.#deps;
    const records = spool.streams().filter(({ state }) => state !== 'aside');
    for (const each of this.all) each.update(records.find(({ stream }) => stream === each.stream));
    const news = records.filter(({ stream }) => this.all.every((known) => known.stream !== stream));
    for (const record of news) this.all.push(new Stream(record, record.stream === facts.stream, this.#deps));
  }

  /**
   * Closes open streams that the spool does not have, if the log has no delta of them. Otherwise they would hold back
   * `completeThrough` forever. Such a stream was finished here before PostgreSQL reverted to an earlier state, or
   * belongs to a process on a copy of this directory, which then ships its counts under another stream.
   * @param said streams of this directory in PostgreSQL
   */
  async closeUnknown(said: readonly (PostgresStream & { readonly stream: string })[]): Promise<void> {
    const { link, log } = this.#deps;
    for (const { stream, seq } of said) {
      if (this.#isKnown(stream) || this.#reported.has(stream)) continue;
      if (seq === 0) await link.query(closeStream(stream, 0));
      else this.#reported.add(stream);
      log.warn(seq === 0 ? closedUnknown : unknown, { stream, deltas: seq });
    }
  }

  /**
   * True if this directory has the stream. The spool drops a stream that has been done for an hour. Streams that an
   * earlier version set aside are only in the spool.
   */
  #isKnown(stream: string): boolean {
    return this.all.some((each) => each.stream === stream) || this.#deps.spool.stream(stream) !== undefined;
  }
}

/** The state of a stream on this node. Its deltas are numbered 1, 2, 3 and so on. */
export interface KnownStream {
  /**
   * True if this process seals the stream. If not, an earlier process sealed it, possibly in another copy of the
   * directory.
   */
  readonly isOwn: boolean;
  readonly sealed: number;
  readonly acknowledged: number;
  /** Number of the first delta still kept; `sealed + 1` if no delta is kept. */
  readonly kept: number;
  digest(seq: number): string | undefined;
}

/** The state of a stream in PostgreSQL: its last delta there. */
export interface PostgresStream {
  readonly seq: number;
  /** Digest of the last delta, hex; empty without a delta, or if the digest is unknown: see `putStreams`. */
  readonly digest: string;
  /**
   * State of the stream. In any state but `open`, the log accepts no more deltas. Only earlier versions distinguish
   * `done` from `forgotten`.
   */
  readonly state: 'open' | 'done' | 'forgotten';
}

export type Decision =
  | { readonly action: 'rest' }
  /** PostgreSQL does not have the stream, or has lost it: create its row. */
  | { readonly action: 'register' }
  | { readonly action: 'acknowledge'; readonly seq: number }
  | { readonly action: 'ship'; readonly from: number }
  /** PostgreSQL reverted to an earlier state: ship again from this delta on. */
  | { readonly action: 'shipAgain'; readonly from: number }
  /** The state in PostgreSQL might not be replicated yet: read it again after a synchronous commit. */
  | { readonly action: 'confirm' }
  /** Ship nothing of the stream for now, and keep all of it. */
  | { readonly action: 'hold'; readonly why: HoldReason };

/**
 * Reason why a stream is not shipped.
 * - `foreign`: PostgreSQL has deltas that were not sealed here. The directory is a copy, or was copied
 * - `closed`: the stream was closed elsewhere. Its remaining deltas are shipped under another stream
 * - `behind`: PostgreSQL reverted to a state before the deltas that are kept here
 */
export type HoldReason = 'foreign' | 'closed' | 'behind';

/**
 * Decides what to do with a stream, by its state on this node and in PostgreSQL. Called when PostgreSQL has rejected a
 * delta, and at each heartbeat.
 * @param said `undefined` if PostgreSQL has no such stream
 * @param isConfirmed true if a synchronous commit after reading `said` succeeded
 */
export function decide(known: KnownStream, said: PostgresStream | undefined, isConfirmed: boolean): Decision {
  const { sealed, acknowledged, kept, isOwn } = known;
  // An empty stream of an earlier process is not registered, because it would hold back `completeThrough`.
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

function hold(why: HoldReason): Decision {
  return { action: 'hold', why };
}

/** True if PostgreSQL has a delta of this stream that was not sealed here. */
function isForeign(known: KnownStream, { seq, digest }: PostgresStream): boolean {
  if (seq > known.sealed) return true;
  return seq >= known.kept && digest !== '' && known.digest(seq) !== digest;
}
