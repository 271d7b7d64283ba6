import { createHash } from 'node:crypto';
import type { Log } from '../log.ts';
import type { StreamRecord } from '../store/spool.ts';
import { type Decision, decide, type EngineStream, type KnownStream } from './decide.ts';
import type { EngineSession } from './session.ts';
import { markDone, register, type SealedDelta, type Shipped, ship, skip } from './ship.ts';

/** A delta in the spool. */
export type KeptDelta = Omit<SealedDelta, 'digest'>;

/** Reads the spool. */
export interface KeptDeltas {
  /** The deltas of a stream from a number on, in their order. */
  deltas(stream: string, from: number, limit: number): readonly KeptDelta[];
  /** The body of a delta with the names of all series: see `encodeNames`. */
  names(stream: string, seq: number): Buffer;
}

export interface StreamDeps {
  readonly session: EngineSession;
  readonly spool: KeptDeltas;
  readonly directory: string;
  readonly log: Log;
}

/** Why nothing more of a stream is shipped. */
export type Stopped = 'aside' | 'forgotten' | 'notOurs';

/** What goes in one transaction at most. */
const maxDeltas = 16;
const maxBytes = 4 * 1024 * 1024;

const stoppedWords: Readonly<Record<Stopped, string>> = {
  aside:
    'this directory is an old copy of one that went on: what it kept of an earlier process is set aside, not shipped',
  forgotten:
    'this node was forgotten: what it has not shipped is kept, and it counts nothing until it is restarted',
  notOurs:
    'PostgreSQL has other deltas under the stream of this process: another process uses a copy of its directory; it counts nothing until it is restarted',
};

/** A stream of this directory, as this process knows it: what is sealed, what the engine has, and what is done next. */
export class Stream implements KnownStream {
  readonly stream: string;
  readonly isOwn: boolean;
  readonly #deps: StreamDeps;
  #sealed: number;
  #acknowledged: number;
  #acknowledgedAt = 0;
  #kept: number;
  #stopped: Stopped | undefined;
  #gaps = 0;
  #isDone = false;
  #isKnown = false;

  constructor(
    record: Pick<StreamRecord, 'stream' | 'sealed' | 'acknowledged' | 'first' | 'state'>,
    isOwn: boolean,
    deps: StreamDeps,
  ) {
    this.stream = record.stream;
    this.isOwn = isOwn;
    this.#deps = deps;
    this.#sealed = record.sealed;
    this.#acknowledged = record.acknowledged;
    this.#kept = record.first;
    this.#stopped = record.state === 'aside' ? 'aside' : undefined;
    this.#isDone = record.state === 'done';
  }

  get sealed(): number {
    return this.#sealed;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** When that was learned, by the engine's clock (Unix ms); 0 when this process has not learned it. */
  get acknowledgedAt(): number {
    return this.#acknowledgedAt;
  }

  get kept(): number {
    return this.#kept;
  }

  get stopped(): Stopped | undefined {
    return this.#stopped;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** All of it is in the engine, as far as is known. */
  get isShipped(): boolean {
    return this.#acknowledged === this.#sealed;
  }

  /** What the engine has of it is known. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get waiting(): number {
    return this.#stopped === undefined ? this.#sealed - this.#acknowledged : 0;
  }

  /** How often deltas of it were lost while this process ran. */
  get gaps(): number {
    return this.#gaps;
  }

  digest(seq: number): string | undefined {
    const [delta] = this.#deps.spool.deltas(this.stream, seq, 1);
    return delta?.seq === seq ? digestOf(delta.body).toString('hex') : undefined;
  }

  /** Deltas up to `seq` are sealed now, and those before `kept` are gone. */
  update(sealed: number, kept: number): void {
    this.#sealed = sealed;
    this.#kept = kept;
  }

  /** Before the next delta goes, the engine is asked what it has. */
  doubt(): void {
    this.#isKnown = false;
  }

  /**
   * Does what is to be done by what the engine says.
   * @returns false when this has to be asked again
   */
  async settle(said: EngineStream | undefined, at: number, isConfirmed: boolean): Promise<boolean> {
    if (this.#stopped !== undefined) return true;
    const decision = decide(this, said, isConfirmed);
    await this.#carryOut(decision, said, at);
    this.#isKnown = ['rest', 'ship', 'shipAgain'].includes(decision.action);
    return this.#isKnown || this.stopped !== undefined;
  }

  /**
   * Ships what comes next, several deltas at once.
   * @returns what was shipped; `undefined` when nothing was: it is all there, or the engine has to be asked first
   * @throws {EngineError}
   */
  async shipNext(): Promise<(Shipped & { readonly deltas: number; readonly bytes: number }) | undefined> {
    if (!this.#isKnown || this.waiting === 0) return undefined;
    const deltas = this.#next();
    if (deltas.length === 0) return undefined;
    this.#isKnown = false; // Until it is known how this ends.
    const shipped = await ship(this.#deps.session, this.stream, deltas);
    if (shipped === undefined) return undefined;
    this.#isKnown = true;
    this.#acknowledge(deltas.at(-1)!.seq, shipped.at);
    const bytes = deltas.reduce((sum, { body }) => sum + body.length, 0);
    return { ...shipped, deltas: deltas.length, bytes };
  }

  async #carryOut(decision: Decision, said: EngineStream | undefined, at: number): Promise<void> {
    const { session, directory, log } = this.#deps;
    const { stream } = this;
    switch (decision.action) {
      case 'register':
        if (this.#acknowledged > 0) log.warn('the engine does not know a stream any more', { stream });
        return register(session, stream, directory);
      case 'acknowledge':
        return this.#acknowledge(decision.seq, at);
      case 'shipAgain':
        log.warn('the engine went back: deltas are shipped again', {
          stream,
          from: decision.from,
          to: this.#acknowledged,
        });
        this.#acknowledged = decision.from - 1;
        return;
      case 'skip':
        return this.#skip(decision.from, decision.to, at);
      case 'setAside':
        return this.#stop('aside', said);
      case 'stop':
        return this.#stop(decision.reason, said);
      case 'rest':
        return this.#finish(said!);
    }
  }

  /** An earlier process will not add to its stream. */
  async #finish({ seq, state }: EngineStream): Promise<void> {
    if (this.isOwn) return;
    const { session, log } = this.#deps;
    this.#isDone = state === 'done' || (await markDone(session, this.stream, seq));
    if (state !== 'done')
      log.info('what an earlier process has counted is shipped', { stream: this.stream, deltas: seq });
  }

  async #skip(from: number, to: number, at: number): Promise<void> {
    const { session, spool, log } = this.#deps;
    const body = spool.names(this.stream, to);
    const until = spool.deltas(this.stream, to + 1, 1)[0]?.through ?? at;
    const lost = { stream: this.stream, from, until };
    if (!(await skip(session, lost, { seq: to, body, digest: digestOf(body) }))) return;
    this.#acknowledged = to;
    this.#gaps += 1;
    log.error('the engine went back further than deltas are kept: these are lost', {
      stream: this.stream,
      from,
      to,
    });
  }

  #stop(reason: Stopped, said: EngineStream | undefined): void {
    this.#stopped = reason;
    this.#deps.log.error(stoppedWords[reason], {
      stream: this.stream,
      sealed: this.#sealed,
      engineHas: said?.seq,
    });
  }

  #acknowledge(seq: number, at: number): void {
    this.#acknowledged = seq;
    this.#acknowledgedAt = at;
  }

  #next(): SealedDelta[] {
    const kept = this.#deps.spool.deltas(this.stream, this.#acknowledged + 1, maxDeltas);
    let bytes = 0;
    const end = kept.findIndex(({ body }, index) => {
      bytes += body.length;
      return index > 0 && bytes > maxBytes;
    });
    const taken = end < 0 ? kept : kept.slice(0, end);
    return taken.map((delta) => ({ ...delta, digest: digestOf(delta.body) }));
  }
}

function digestOf(body: Uint8Array): Buffer {
  return createHash('sha256').update(body).digest();
}
