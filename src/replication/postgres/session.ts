import { connect } from 'node:net';
import type pg from 'pg';
import { endsSession, PostgresError, refusal, sqlstateOf } from './postgres-error.ts';
import type { PostgresHost } from './postgres-url.ts';
import type { QueryResult, Run, Statement } from './statement.ts';

export interface Outcome extends QueryResult {
  /** `COMMIT`, `ROLLBACK`, `INSERT` and so on. */
  readonly command: string;
}

interface Sent {
  readonly reject: (error: PostgresError) => void;
  readonly commits: boolean;
  /** The server warned during this commit that the standby may not have it. */
  isUnconfirmed: boolean;
}

const closeWithinMs = 1000;

/** One session with the primary. Once it is lost, all pending and later calls reject. */
export class Session {
  readonly host: PostgresHost;
  readonly #client: pg.Client;
  readonly #sent: Sent[] = [];
  readonly #onLost: (why: Error) => void;
  #lost: Error | undefined;
  #isClosing = false;

  /** @param client a connected one @param onLost called once if the session ends by other means than `close` */
  constructor(client: pg.Client, host: PostgresHost, onLost: (why: Error) => void) {
    this.#client = client;
    this.host = host;
    this.#onLost = onLost;
    client.removeAllListeners('error');
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('the server closed the session')));
    client.on('notice', ({ code }) => this.#notice(code));
  }

  get isOpen(): boolean {
    return this.#lost === undefined && !this.#isClosing;
  }

  /**
   * Sends a statement at once, after those sent before.
   * @param commits whether it may commit
   * @throws {PostgresError} `sql`; `unreachable` if it was not sent; `unknown_outcome` if the session was lost, or the standby may not
   *   have the commit
   */
  send(statement: Statement, commits: boolean): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(closed());
      const sent: Sent = { reject, commits, isUnconfirmed: false };
      this.#sent.push(sent);
      // A callback runs while the answer is parsed. A promise would see the warnings of the next statement.
      const answered = (error: Error | undefined, result: pg.QueryResult) => {
        const place = this.#sent.indexOf(sent);
        if (place === -1) return;
        this.#sent.splice(place, 1);
        if (error) reject(this.#failed(error));
        else if (sent.isUnconfirmed) reject(unconfirmed());
        else resolve({ rows: result.rows, rowCount: result.rowCount ?? 0, command: result.command });
      };
      const { name, text, values } = statement;
      this.#client.query(
        { ...(name === undefined ? {} : { name }), text, values: values as unknown[] },
        answered,
      );
    });
  }

  /** Runs a transaction, exclusively. See `Connection.transaction`. */
  async transaction<T>(work: (run: Run) => Promise<T> | T): Promise<T> {
    let failure: unknown;
    const run = <Row>(statement: Statement): Promise<QueryResult<Row>> => {
      const answer = this.send(statement, false).catch((error: PostgresError) => {
        failure ??= nothingKept(error);
        throw failure;
      });
      answer.catch(() => {}); // COMMIT reports a failure that `work` does not await.
      return answer as unknown as Promise<QueryResult<Row>>;
    };
    void run({ text: 'BEGIN' });
    let result: T;
    try {
      result = await work(run);
    } catch (error) {
      if (this.isOpen) await this.send({ text: 'ROLLBACK' }, false).catch(() => {});
      throw error;
    }
    if (!this.isOpen)
      throw failure ?? new PostgresError('unreachable', 'The session with PostgreSQL was lost');
    const { command } = await this.send({ text: 'COMMIT' }, true);
    if (command === 'COMMIT') return result;
    throw failure ?? new PostgresError('sql', 'PostgreSQL rolled the transaction back');
  }

  /** Cancels the current statement on the server, and closes the socket. */
  abandon(why: Error): void {
    const { processID, secretKey } = this.#client as unknown as { processID: number; secretKey: number };
    if (this.#sent.length > 0) cancel(this.host, processID, secretKey);
    this.#lose(why);
  }

  /** Closes the session when all answers have arrived. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    this.#isClosing = true;
    const timer = setTimeout(() => this.abandon(closed()), closeWithinMs);
    await this.#client.end();
    clearTimeout(timer);
  }

  #notice(code: string | undefined): void {
    const running = this.#sent[0];
    if (running?.commits && (code === '01000' || code === '57P01')) running.isUnconfirmed = true;
  }

  #failed(error: Error): PostgresError {
    const sqlstate = sqlstateOf(error);
    if (sqlstate === undefined) return lost(this.#lost ?? error);
    if (!endsSession(sqlstate)) return refusal(error, sqlstate);
    this.#lose(error);
    return lost(error);
  }

  #lose(why: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = why;
    streamOf(this.#client).destroy();
    for (const { reject } of this.#sent.splice(0)) reject(lost(why));
    if (!this.#isClosing) this.#onLost(why);
  }
}

function closed(): Error {
  return new PostgresError('unreachable', 'The session with PostgreSQL is closed');
}

/** A stopped server never accepts the request. */
const cancelWithinMs = 2000;
const cancelRequest = 80_877_102;

/**
 * Cancels a session's statement through a separate connection, as the protocol requires. Otherwise an abandoned session that waits for
 * its standby would stay, and hold its locks. There is no answer.
 */
function cancel({ host, port }: PostgresHost, processId: number, secret: number): void {
  const message = Buffer.alloc(16);
  for (const [at, value] of [16, cancelRequest, processId, secret].entries())
    message.writeInt32BE(value, at * 4);
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.on('error', () => socket.destroy());
  socket.setTimeout(cancelWithinMs, () => socket.destroy());
  socket.on('connect', () => socket.end(message));
  socket.unref();
}

/** Gives access to a client's socket: `pg` cannot close it at once. */
export function streamOf(client: pg.Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}

function lost(why: Error): PostgresError {
  if (why instanceof PostgresError)
    return new PostgresError('unknown_outcome', why.message, why.sqlstate, why);
  const sqlstate = sqlstateOf(why);
  const cause = sqlstate === undefined ? why.message : `${why.message} (SQLSTATE ${sqlstate})`;
  return new PostgresError(
    'unknown_outcome',
    `The session with PostgreSQL was lost: ${cause}`,
    sqlstate,
    why,
  );
}

function unconfirmed(): PostgresError {
  const message = 'PostgreSQL has committed without its standby: the wait for it was cancelled';
  return new PostgresError('unknown_outcome', message, '01000');
}

/** COMMIT was not sent, so nothing was kept. */
function nothingKept(error: PostgresError): PostgresError {
  if (error.code !== 'unknown_outcome') return error;
  const isLate = error.cause instanceof PostgresError && error.cause.code === 'deadline';
  return new PostgresError(isLate ? 'deadline' : 'unreachable', error.message, error.sqlstate, error.cause);
}
