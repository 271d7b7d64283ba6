/**
 * Speaks to the PostgreSQL on which several nodes run: its URL, sessions with its primary, and the schema. This room knows
 * SQL and the network, and little of what is kept there. The class that others use is in this file.
 */
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { openSession } from './open-session.ts';
import { PostgresError, sqlstateOf } from './postgres-error.ts';
import { type PostgresAddress, type PostgresHost, showHost } from './postgres-url.ts';
import type { Session } from './session.ts';
import type { QueryResult, Run, Statement } from './statement.ts';

export interface ConnectionOptions {
  /** Names the session in the server's list and in the log. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Is run on each new session before anything else, such as to check whose engine it is. What it throws, all calls get. */
  readonly prepare?: (run: Run) => Promise<void>;
  /** From a call to its answer; then the session is given up, and the server asked to cancel. */
  readonly deadlineMs: number;
}

/** What runs statements: a connection, or what stands in for one. */
export type PostgresSession = Pick<Connection, 'query' | 'transaction'>;

const firstPauseMs = 100;
const longestPauseMs = 2000;

/**
 * One session with the primary, whichever host that is: opened when it is needed, and again when it was lost. Statements of
 * two transactions never mix. Nothing is retried.
 */
export class Connection {
  readonly #address: PostgresAddress;
  readonly #options: ConnectionOptions;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  /** Why the last attempt to open it failed. */
  #away: Error | undefined;
  readonly #closing = new AbortController();
  #pauseMs = firstPauseMs;
  #nextAttempt = 0;
  /** In the order in which they are tried. */
  readonly #hosts: PostgresHost[];
  /** Resolves when all transactions until now have ended. */
  #transactions: Promise<unknown> = Promise.resolve();

  constructor(address: PostgresAddress, options: ConnectionOptions) {
    this.#address = address;
    this.#options = options;
    this.#hosts = [...address.hosts];
  }

  /** `HOST:PORT` of the primary; `undefined` while there is no session. */
  get host(): string | undefined {
    return this.#session && showHost(this.#session.host);
  }

  /**
   * Runs one statement, which commits by itself. Several that are made without waiting travel together.
   * @throws {PostgresError} `unreachable`, `refused`, `deadline`, `sql`: nothing was kept; `unknown_outcome`
   */
  query<Row = Record<string, unknown>>(statement: Statement): Promise<QueryResult<Row>> {
    return this.#within(this.#options.deadlineMs, async (session) => {
      return (await session.send(statement, true)) as unknown as QueryResult<Row>;
    });
  }

  /**
   * Runs a transaction at READ COMMITTED. BEGIN travels with the first statements, and COMMIT with those that `work` does
   * not wait for; one that fails makes the transaction fail.
   * @param work must wait for nothing but statements; when it throws, the transaction is rolled back
   * @throws {PostgresError} `unreachable`, `refused`, `deadline`, `sql`: nothing was kept; `unknown_outcome`: COMMIT was sent
   * @throws whatever `work` throws; nothing was kept
   */
  transaction<T>(work: (run: Run) => Promise<T> | T, deadlineMs = this.#options.deadlineMs): Promise<T> {
    const before = this.#transactions;
    const settled = this.#within(deadlineMs, (session) => session.transaction(work));
    // A call that waits ends at its deadline, and those before it may go on.
    this.#transactions = before.then(() => settled.catch(() => {}));
    return settled;
  }

  /** Ends the session when what was sent is answered; later calls fail. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(() => {});
    await this.#session?.close();
    this.#session = undefined;
  }

  /** Makes a call after the transactions before it. At its deadline it ends; if it has sent something, so does its session. */
  #within<T>(deadlineMs: number, call: (session: Session) => Promise<T>): Promise<T> {
    const before = this.#transactions;
    return new Promise((resolve, reject) => {
      let session: Session | undefined;
      const late = () => new PostgresError('deadline', `The engine gave no answer within ${deadlineMs} ms`);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        session?.abandon(late());
        // A call that waits for the session has rejected by now, and knows better what is lost.
        setImmediate(() => reject(late()));
      }, deadlineMs);
      const made = async () => {
        await before;
        const opened = await this.#open();
        if (isLate) throw late();
        session = opened;
        return call(opened);
      };
      made()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }

  /**
   * Gives the session. After a failed attempt to open it, calls fail at once until the next attempt is due.
   * @throws {PostgresError} `unreachable`, `refused`
   * @throws whatever `prepare` throws
   */
  async #open(): Promise<Session> {
    if (this.#closing.signal.aborted) throw closed();
    if (this.#session?.isOpen) return this.#session;
    if (this.#opening === undefined) {
      if (this.#away && this.#options.clock.monotonic() < this.#nextAttempt) throw this.#away;
      this.#opening = this.#openNew();
    }
    return this.#opening;
  }

  async #openNew(): Promise<Session> {
    const { name, log, prepare } = this.#options;
    const { connectTimeoutMs } = this.#address;
    let session: Session | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      const opened = await this.#findPrimary();
      session = opened;
      const why = new PostgresError('deadline', `The engine gave no answer within ${connectTimeoutMs} ms`);
      timer = setTimeout(() => opened.abandon(why), connectTimeoutMs);
      await prepare?.(((statement) => opened.send(statement, true)) as Run);
    } catch (error) {
      await session?.close();
      this.#failed(error as Error);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#opening = undefined;
    }
    this.#session = session;
    this.#away = undefined;
    this.#pauseMs = firstPauseMs;
    log.info('session with the engine is open', { connection: name, host: showHost(session.host) });
    return session;
  }

  /** Tries one host after another. @throws {PostgresError} with what is wrong with each */
  async #findPrimary(): Promise<Session> {
    const { name } = this.#options;
    const { signal } = this.#closing;
    const problems: PostgresError[] = [];
    for (const host of [...this.#hosts]) {
      if (signal.aborted) throw closed();
      try {
        const onLost = (why: Error) => this.#lost(session, why);
        const session: Session = await openSession(this.#address, host, { name, signal, onLost });
        return session;
      } catch (error) {
        problems.push(error as PostgresError);
        this.#hosts.push(this.#hosts.shift()!);
      }
    }
    const sqlstate = problems.find((problem) => problem.sqlstate !== undefined)?.sqlstate;
    const each = problems.map(({ message }) => message).join('; ');
    const code = problems.some((problem) => problem.code === 'refused') ? 'refused' : 'unreachable';
    throw new PostgresError(code, `The engine cannot be used: ${each}`, sqlstate);
  }

  #failed(why: Error): void {
    const { name, log, clock } = this.#options;
    const isNew = this.#away?.message !== why.message;
    this.#away = why;
    this.#nextAttempt = clock.monotonic() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    const next = `is tried again, at most ${longestPauseMs / 1000} s apart, whenever it is needed`;
    const { sqlstate } = why as PostgresError;
    if (isNew) log.warn('engine is away', { connection: name, sqlstate, reason: why.message, next });
  }

  #lost(session: Session, why: Error): void {
    const { name, log } = this.#options;
    // The others are asked first: what was the primary may be gone.
    this.#hosts.push(this.#hosts.shift()!);
    if (this.#session === session) this.#session = undefined;
    const fields = { connection: name, host: showHost(session.host), sqlstate: sqlstateOf(why) };
    const next = 'the next call opens another; commits without an answer are settled by trying again';
    log.warn('session with the engine lost', { ...fields, reason: why.message, next });
  }
}

function closed(): PostgresError {
  return new PostgresError('unreachable', 'The connection with the engine is closed');
}
