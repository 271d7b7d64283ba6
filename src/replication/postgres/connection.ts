/** Access to the PostgreSQL database shared by the nodes: its URL, sessions with the primary, and the schema. */
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { getSqlstate, PostgresError } from './postgres-error.ts';
import { type PostgresAddress, type PostgresHost, showHost } from './postgres-url.ts';
import { openSession, type QueryResult, type Run, type Session, type Statement } from './session.ts';

export interface ConnectionOptions {
  /** Name of the session in `pg_stat_activity` and in the log. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called for each new session before any other statement. If it fails, all calls fail. */
  readonly prepare?: (run: Run) => Promise<void>;
  /** Maximum time from a call to its response. After it, the statement is cancelled and the session closed. */
  readonly deadlineMs: number;
}

export type PostgresSession = Pick<Connection, 'query' | 'transaction'>;

const firstPauseMs = 100;
const longestPauseMs = 2000;

/**
 * One session with the primary, on any of the hosts. The session is opened on demand, and reopened after a loss.
 * Statements of two transactions never mix, and are never retried.
 */
export class Connection {
  readonly #address: PostgresAddress;
  readonly #options: ConnectionOptions;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #away: Error | undefined;
  readonly #closing = new AbortController();
  #pauseMs = firstPauseMs;
  #nextAttempt = 0;
  readonly #hosts: PostgresHost[];
  /** Resolves when all transactions so far have ended. */
  #transactions: Promise<unknown> = Promise.resolve();

  constructor(address: PostgresAddress, options: ConnectionOptions) {
    this.#address = address;
    this.#options = options;
    this.#hosts = [...address.hosts];
  }

  /** `HOST:PORT` of the primary; `undefined` without a session. */
  get host(): string | undefined {
    return this.#session && showHost(this.#session.host);
  }

  /**
   * Runs one statement, which commits. Statements sent without waiting are pipelined.
   * @throws {PostgresError} `unreachable`, `refused`, `deadline`, `sql`: the statement had no effect; `unknown_outcome`
   */
  query<Row = Record<string, unknown>>(statement: Statement): Promise<QueryResult<Row>> {
    return this.#within(this.#options.deadlineMs, async (session) => {
      return (await session.send(statement, true)) as unknown as QueryResult<Row>;
    });
  }

  /**
   * Runs a transaction at READ COMMITTED. BEGIN is sent with the first statements, and COMMIT with the statements that
   * `work` does not await. A failed statement makes the transaction fail.
   * @param work must await nothing but statements; if it throws, the transaction is rolled back
   * @throws {PostgresError} `unreachable`, `refused`, `deadline`, `sql`: nothing was kept; `unknown_outcome`: COMMIT
   * was sent
   * @throws whatever `work` throws; nothing was kept
   */
  transaction<T>(work: (run: Run) => Promise<T> | T, deadlineMs = this.#options.deadlineMs): Promise<T> {
    const before = this.#transactions;
    const settled = this.#within(deadlineMs, (session) => session.transaction(work));
    // A waiting call ends at its deadline, even before the transactions that it waits for.
    this.#transactions = before.then(() => settled.catch(() => {}));
    return settled;
  }

  /** Closes the session when all responses have arrived. Later calls fail. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening?.catch(() => {});
    await this.#session?.close();
    this.#session = undefined;
  }

  /** Makes a call after the earlier transactions. At the deadline, the call fails and its session is closed. */
  #within<T>(deadlineMs: number, call: (session: Session) => Promise<T>): Promise<T> {
    const before = this.#transactions;
    return new Promise((resolve, reject) => {
      let session: Session | undefined;
      const late = () => new PostgresError('deadline', `PostgreSQL did not respond within ${deadlineMs} ms`);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        session?.abandon(late());
        // Has no effect if a statement was sent: `abandon` has already rejected the call with a more exact error.
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
   * Returns the session. After a failed attempt to open it, calls fail immediately until the next attempt is due.
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
      const why = new PostgresError('deadline', `PostgreSQL did not respond within ${connectTimeoutMs} ms`);
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
    log.info('session with PostgreSQL is open', { connection: name, host: showHost(session.host) });
    return session;
  }

  /** Tries each host once. @throws {PostgresError} with a reason for each host */
  async #findPrimary(): Promise<Session> {
    const { name } = this.#options;
    const { signal } = this.#closing;
    const errors: PostgresError[] = [];
    for (const host of [...this.#hosts]) {
      if (signal.aborted) throw closed();
      try {
        const onLost = (why: Error) => this.#lost(session, why);
        const session: Session = await openSession(this.#address, host, { name, signal, onLost });
        return session;
      } catch (error) {
        errors.push(error as PostgresError);
        this.#hosts.push(this.#hosts.shift()!);
      }
    }
    const sqlstate = errors.find((error) => error.sqlstate !== undefined)?.sqlstate;
    const each = errors.map(({ message }) => message).join('; ');
    const code = errors.some((error) => error.code === 'refused') ? 'refused' : 'unreachable';
    throw new PostgresError(code, `Cannot use PostgreSQL: ${each}`, sqlstate);
  }

  #failed(why: Error): void {
    const { name, log, clock } = this.#options;
    const isNew = this.#away?.message !== why.message;
    this.#away = why;
    this.#nextAttempt = clock.monotonic() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    const next = `retrying when needed, at intervals of up to ${longestPauseMs / 1000} s`;
    const { sqlstate } = why as PostgresError;
    if (isNew) log.warn('PostgreSQL is not available', { connection: name, sqlstate, reason: why.message, next });
  }

  #lost(session: Session, why: Error): void {
    const { name, log } = this.#options;
    // This host might no longer be the primary, so the next attempt tries the other hosts first.
    this.#hosts.push(this.#hosts.shift()!);
    if (this.#session === session) this.#session = undefined;
    const fields = { connection: name, host: showHost(session.host), sqlstate: getSqlstate(why) };
    const next = 'reconnecting when needed; commits without a response will be retried or confirmed';
    log.warn('session with PostgreSQL lost', { ...fields, reason: why.message, next });
  }
}

function closed(): PostgresError {
  return new PostgresError('unreachable', 'The connection to PostgreSQL is closed');
}
