import type pg from 'pg';
import { cancel } from './cancel.ts';
import { EngineError } from './engine-error.ts';
import type { EngineHost } from './engine-url.ts';
import { endsSession, refusal, sqlstateOf } from './sqlstate.ts';
import type { QueryResult, Statement } from './statement.ts';

/** What a statement came to, as the server says it. */
export interface Outcome extends QueryResult {
  /** `COMMIT`, `ROLLBACK`, `INSERT` and so on. */
  readonly command: string;
}

interface Sent {
  readonly reject: (error: EngineError) => void;
  readonly commits: boolean;
  /** The server warned, while it ran this, that the standby may not have what was committed. */
  isUnconfirmed: boolean;
}

const closeWithinMs = 1000;

/** One session with the primary. It never comes back: when it is lost, all that it was asked rejects. */
export class Session {
  readonly host: EngineHost;
  readonly #client: pg.Client;
  /** What the server has not answered yet, in its order. */
  readonly #sent: Sent[] = [];
  readonly #onLost: (why: Error) => void;
  #lost: Error | undefined;
  #isClosing = false;

  /** @param client a connected one @param onLost is called once, when the session ends unless `close` ended it */
  constructor(client: pg.Client, host: EngineHost, onLost: (why: Error) => void) {
    this.#client = client;
    this.host = host;
    this.#onLost = onLost;
    client.removeAllListeners('error');
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('the server closed the session')));
    client.on('notice', ({ code }) => this.#notice(code));
  }

  /** Whether it can be asked. */
  get isOpen(): boolean {
    return this.#lost === undefined && !this.#isClosing;
  }

  /**
   * Sends one statement at once, behind those that were sent before.
   * @param commits whether it may commit something
   * @throws {EngineError} `sql`; `unreachable` when it was not sent; `unknown_outcome` when the session was lost, or the
   *   standby may not have it
   */
  send(statement: Statement, commits: boolean): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(closed());
      const sent: Sent = { reject, commits, isUnconfirmed: false };
      this.#sent.push(sent);
      // A callback is called while the answer is read; a promise would be late for the warnings of the next statement.
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

  /** Gives it up: the server is asked to stop what it does, and the socket is gone. */
  abandon(why: Error): void {
    const { processID, secretKey } = this.#client as unknown as { processID: number; secretKey: number };
    if (this.#sent.length > 0) cancel(this.host, processID, secretKey);
    this.#lose(why);
  }

  /** Ends it when all that was sent is answered. */
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

  #failed(error: Error): EngineError {
    const sqlstate = sqlstateOf(error);
    if (sqlstate === undefined) return lost(this.#lost ?? error);
    if (!endsSession(sqlstate)) return refusal(error);
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
  return new EngineError('unreachable', 'The session with the engine is closed');
}

/** Ends a client's socket at once. `pg` has no method for that. */
export function streamOf(client: pg.Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}

function lost(why: Error): EngineError {
  if (why instanceof EngineError) return new EngineError('unknown_outcome', why.message, why.sqlstate, why);
  const sqlstate = sqlstateOf(why);
  const cause = sqlstate === undefined ? why.message : `${why.message} (SQLSTATE ${sqlstate})`;
  return new EngineError('unknown_outcome', `The session with the engine was lost: ${cause}`, sqlstate, why);
}

function unconfirmed(): EngineError {
  const message = 'The engine has committed without its standby: the wait for it was cancelled';
  return new EngineError('unknown_outcome', message, '01000');
}
