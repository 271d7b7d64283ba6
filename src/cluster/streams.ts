import { createHash } from 'node:crypto';
import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import type { StreamRecord } from '../store/spool.ts';
import { type Decision, decide, type EngineStream, type Held, type KnownStream } from './decide.ts';
import { markDone, register, type SealedDelta, type Shipped, ship } from './ship.ts';
import type { Spool } from './spool.ts';

export interface StreamDeps {
  readonly session: EngineSession;
  readonly spool: Pick<Spool, 'deltas'>;
  readonly directory: string;
  readonly log: Log;
}

/** What goes in one transaction at most. */
const maxDeltas = 16;
const maxBytes = 4 * 1024 * 1024;

const heldOwn: Readonly<Record<Held, string>> = {
  foreign:
    'PostgreSQL has other deltas under the stream of this process: another process used a copy of its directory. This node keeps what it has counted and counts nothing more; start a node with an empty directory in its place',
  closed:
    'the stream of this process was closed by someone else, as by flagmeter engine forget-node: this node counts nothing until it is restarted, and ships then what it has kept',
  behind:
    'PostgreSQL is older than what this node keeps: counting goes on, and nothing is shipped. Restore a newer backup, or fill a new database by flagmeter engine adopt --from-replica; to accept the loss, stop this node, run flagmeter engine forget-node for it, and start it',
};

const heldEarlier: Readonly<Record<Held, string>> = {
  ...heldOwn,
  foreign:
    'PostgreSQL has deltas of an earlier process that are not in this directory: it is a copy of one that went on, or a copy of it was used. This node keeps what it has counted and counts nothing more; start a node with an empty directory in its place',
  closed:
    'the stream of an earlier process was closed by someone else, as by flagmeter engine forget-node: what it kept goes on under another stream',
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
  #held: Held | undefined;
  #isDone: boolean;
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

  get held(): Held | undefined {
    return this.#held;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** All of it is in the engine, as far as is known. */
  get isShipped(): boolean {
    return this.#acknowledged === this.#sealed && this.#held !== 'foreign';
  }

  /** What the engine has of it is known. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Deltas that can be shipped. */
  get waiting(): number {
    return this.#held === undefined ? this.#sealed - this.#acknowledged : 0;
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

  /** Does what is to be done by what the engine says. */
  async settle(said: EngineStream | undefined, at: number, isConfirmed: boolean): Promise<void> {
    const decision = decide(this, said, isConfirmed);
    if (decision.action !== 'confirm' && decision.action !== 'hold') this.#held = undefined;
    await this.#carryOut(decision, said, at);
    this.#isKnown = ['rest', 'ship', 'shipAgain'].includes(decision.action);
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
    const shipped = await ship(this.#deps.session, this.stream, deltas, this.digest(deltas[0]!.seq - 1));
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
      case 'hold':
        return this.#hold(decision.why, said!.seq);
      case 'rest':
        return this.#finish(said!);
    }
  }

  /** An earlier process will not add to its stream. */
  async #finish({ seq, state }: EngineStream): Promise<void> {
    if (this.isOwn) return;
    const { session, log } = this.#deps;
    this.#isDone = state !== 'open' || (await markDone(session, this.stream, seq));
    if (state === 'open')
      log.info('what an earlier process has counted is shipped', { stream: this.stream, deltas: seq });
  }

  #hold(why: Held, seq: number): void {
    if (why !== 'foreign') this.#acknowledged = seq;
    if (this.#held === why) return;
    this.#held = why;
    const { stream, isOwn, sealed } = this;
    this.#deps.log.error((isOwn ? heldOwn : heldEarlier)[why], { stream, sealed, engineHas: seq });
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
