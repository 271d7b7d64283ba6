import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { EngineError } from './engine-error.ts';
import { type EngineAddress, showHost } from './engine-url.ts';
import { openSession } from './open-session.ts';
import type { Session } from './session.ts';
import { sqlstateOf } from './sqlstate.ts';
import type { Run, Statement } from './statement.ts';

export interface PrimaryOptions {
  /** Names the session in the server's list and in the log. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Is run on each new session before anything else, such as to check whose engine it is. What it throws, all calls get. */
  readonly prepare?: (run: Run) => Promise<void>;
}

const firstPauseMs = 100;
const longestPauseMs = 2000;

/** Keeps the one session with whichever host is the primary: opens it when it is needed, and again when it was lost. */
export class Primary {
  readonly #address: EngineAddress;
  readonly #options: PrimaryOptions;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  /** Why the last attempt to open it failed. */
  #away: Error | undefined;
  readonly #closing = new AbortController();
  #pauseMs = firstPauseMs;
  #nextAttempt = 0;
  /** The host to begin with. */
  #first = 0;

  constructor(address: EngineAddress, options: PrimaryOptions) {
    this.#address = address;
    this.#options = options;
  }

  /** `HOST:PORT` of the primary; `undefined` while there is no session. */
  get host(): string | undefined {
    return this.#session && showHost(this.#session.host);
  }

  /**
   * Gives the session. After a failed attempt to open it, calls fail at once until the next attempt is due.
   * @throws {EngineError} `unreachable`, `refused`
   * @throws whatever `prepare` throws
   */
  async session(): Promise<Session> {
    if (this.#closing.signal.aborted) throw closed();
    if (this.#session?.isOpen) return this.#session;
    if (this.#opening === undefined) {
      if (this.#away && this.#options.clock.monotonic() < this.#nextAttempt) throw this.#away;
      this.#opening = this.#open();
    }
    return this.#opening;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(() => {});
    await this.#session?.close();
    this.#session = undefined;
  }

  async #open(): Promise<Session> {
    const { name, log } = this.#options;
    let session: Session | undefined;
    try {
      session = await this.#findPrimary();
      await this.#prepare(session);
    } catch (error) {
      await session?.close();
      this.#failed(error as Error);
      throw error;
    } finally {
      this.#opening = undefined;
    }
    this.#session = session;
    this.#away = undefined;
    this.#pauseMs = firstPauseMs;
    log.info('session with the engine is open', { connection: name, host: showHost(session.host) });
    return session;
  }

  async #prepare(session: Session): Promise<void> {
    const { connectTimeoutMs } = this.#address;
    const why = new EngineError('deadline', `The engine gave no answer within ${connectTimeoutMs} ms`);
    const timer = setTimeout(() => session.abandon(why), connectTimeoutMs);
    const run = (statement: Statement) => session.send(statement, true);
    try {
      await this.#options.prepare?.(run as Run);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tries one host after another. @throws {EngineError} with what is wrong with each */
  async #findPrimary(): Promise<Session> {
    const { hosts } = this.#address;
    const problems: EngineError[] = [];
    for (const [tried] of hosts.entries()) {
      if (this.#closing.signal.aborted) throw closed();
      const index = (this.#first + tried) % hosts.length;
      const host = hosts[index] as (typeof hosts)[number];
      try {
        const lose = (why: Error) => this.#lost(session, why);
        const session: Session = await openSession(this.#address, host, {
          name: this.#options.name,
          signal: this.#closing.signal,
          onLost: lose,
        });
        this.#first = index;
        return session;
      } catch (error) {
        problems.push(error as EngineError);
      }
    }
    const sqlstate = problems.find((problem) => problem.sqlstate !== undefined)?.sqlstate;
    const each = problems.map(({ message }) => message).join('; ');
    const isRefused = problems.some(({ code }) => code === 'refused');
    const code = isRefused ? 'refused' : 'unreachable';
    throw new EngineError(code, `The engine cannot be used: ${each}`, sqlstate);
  }

  #failed(why: Error): void {
    const { name, log, clock } = this.#options;
    const isNew = this.#away?.message !== why.message;
    this.#away = why;
    this.#nextAttempt = clock.monotonic() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    const next = `is tried again, at most ${longestPauseMs / 1000} s apart, whenever it is needed`;
    const { sqlstate } = why as EngineError;
    if (isNew) log.warn('engine is away', { connection: name, sqlstate, reason: why.message, next });
  }

  #lost(session: Session, why: Error): void {
    const { name, log } = this.#options;
    // The others are asked first: what was the primary may be gone.
    this.#first = (this.#first + 1) % this.#address.hosts.length;
    if (this.#session === session) this.#session = undefined;
    const fields = { connection: name, host: showHost(session.host), sqlstate: sqlstateOf(why) };
    const next = 'the next call opens another; commits without an answer are settled by trying again';
    log.warn('session with the engine lost', { ...fields, reason: why.message, next });
  }
}

function closed(): EngineError {
  return new EngineError('unreachable', 'The connection with the engine is closed');
}
