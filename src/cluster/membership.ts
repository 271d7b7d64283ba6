import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import { maxSkewMs } from '../postgres/shared-clock.ts';
import { JoinRefused, join, type NodeFacts } from './join.ts';
import type { Stream } from './streams.ts';

/** Between two attempts to take the directory's row back. */
const againMs = 30_000;

/**
 * Why a node must not count.
 * - `copied`: its directory is a copy, or was copied: what it counts could not be told from what the other counts
 * - `closed`: its stream was closed: what it counts is shipped only after a restart
 */
export type Refuses = 'copied' | 'closed';

/** Whether this process is the one that the engine knows for its data directory. */
export class Membership {
  readonly #facts: NodeFacts;
  readonly #session: EngineSession;
  readonly #clock: Clock;
  readonly #log: Log;
  #isJoined = false;
  /** Another process uses a copy of the directory. */
  #isCopied = false;
  #again = 0;
  #isSkewed = false;

  constructor(facts: NodeFacts, session: EngineSession, clock: Clock, log: Log) {
    this.#facts = facts;
    this.#session = session;
    this.#clock = clock;
    this.#log = log;
  }

  get isJoined(): boolean {
    return this.#isJoined;
  }

  /** Why this node may not count. @param streams those of its directory */
  refuses(streams: readonly Pick<Stream, 'held' | 'isOwn'>[]): Refuses | undefined {
    if (this.#isCopied || streams.some(({ held }) => held === 'foreign')) return 'copied';
    return streams.some(({ held, isOwn }) => isOwn && held === 'closed') ? 'closed' : undefined;
  }

  /** @throws {JoinRefused} @throws {EngineError} */
  async join(): Promise<void> {
    const { name, directory } = this.#facts;
    const pause = (ms: number) => setTimeout(ms);
    await join({ session: this.#session, now: () => this.#clock.now(), pause }, this.#facts);
    this.#isJoined = true;
    this.#log.info('joined the engine', { node: name, directory });
  }

  /**
   * The directory's row is of this process, or not: it is gone, because the engine went back, or another process has it.
   * @param skewMs how far this machine's clock is ahead of PostgreSQL's
   * @returns whether the row was taken back: what the engine has just said is of before
   */
  async keep(isOurs: boolean, skewMs: number): Promise<boolean> {
    this.#watchClock(skewMs);
    if (isOurs) this.#isCopied = false;
    return !isOurs && this.#clock.monotonic() >= this.#again && (await this.#joinAgain());
  }

  #watchClock(skewMs: number): void {
    const isSkewed = Math.abs(skewMs) > maxSkewMs;
    if (isSkewed === this.#isSkewed) return;
    this.#isSkewed = isSkewed;
    const skew = { skewMs: Math.round(skewMs) };
    const next = "this node manages nothing until it is; counting continues by PostgreSQL's time";
    if (isSkewed) this.#log.error('the clock of this machine is wrong: correct it (NTP)', { ...skew, next });
    else this.#log.info('the clock of this machine is right again', skew);
  }

  async #joinAgain(): Promise<boolean> {
    this.#again = this.#clock.monotonic() + againMs;
    try {
      await this.join();
      return true;
    } catch (error) {
      if (!(error instanceof JoinRefused)) throw error;
      const next = 'it counts nothing while the other runs, and keeps what it has counted';
      if (!this.#isCopied) this.#log.error('this node is not alone', { error, next });
      this.#isCopied = true;
      return false;
    }
  }
}
