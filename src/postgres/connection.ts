/**
 * Speaks to the PostgreSQL on which several nodes run: its URL, sessions with its primary, and the schema. This room knows
 * SQL and the network, and little of what is kept there. The class that others use is in this file.
 */
import { EngineError } from './engine-error.ts';
import type { EngineAddress } from './engine-url.ts';
import { Primary, type PrimaryOptions } from './primary.ts';
import type { Session } from './session.ts';
import type { QueryResult, Run, Statement } from './statement.ts';
import { transact } from './transact.ts';

export interface ConnectionOptions extends PrimaryOptions {
  /** From a call to its answer; then the session is given up, and the server asked to cancel. */
  readonly deadlineMs: number;
}

/** What runs statements: a connection, or what stands in for one. */
export type EngineSession = Pick<Connection, 'query' | 'transaction'>;

type Open = () => Promise<Session>;

/**
 * One session with the primary, whichever host that is: opened when it is needed, and again when it was lost. Statements of
 * two transactions never mix. Nothing is retried.
 */
export class Connection {
  readonly #primary: Primary;
  readonly #deadlineMs: number;
  /** Resolves when all transactions until now have ended. */
  #transactions: Promise<unknown> = Promise.resolve();

  constructor(address: EngineAddress, options: ConnectionOptions) {
    this.#primary = new Primary(address, options);
    this.#deadlineMs = options.deadlineMs;
  }

  /** `HOST:PORT` of the primary; `undefined` while there is no session. */
  get host(): string | undefined {
    return this.#primary.host;
  }

  /**
   * Runs one statement, which commits by itself. Several that are made without waiting travel together.
   * @throws {EngineError} `unreachable`, `refused`, `deadline`, `sql`: nothing was kept; `unknown_outcome`
   */
  query<Row = Record<string, unknown>>(statement: Statement): Promise<QueryResult<Row>> {
    const before = this.#transactions;
    return this.#within(this.#deadlineMs, async (open) => {
      await before;
      const session = await open();
      return (await session.send(statement, true)) as unknown as QueryResult<Row>;
    });
  }

  /**
   * Runs a transaction at READ COMMITTED. BEGIN travels with the first statements, and COMMIT with those that `work` does
   * not wait for; one that fails makes the transaction fail.
   * @param work must wait for nothing but statements; when it throws, the transaction is rolled back
   * @throws {EngineError} `unreachable`, `refused`, `deadline`, `sql`: nothing was kept; `unknown_outcome`: COMMIT was sent
   * @throws whatever `work` throws; nothing was kept
   */
  transaction<T>(work: (run: Run) => Promise<T> | T, deadlineMs = this.#deadlineMs): Promise<T> {
    const before = this.#transactions;
    const settled = this.#within(deadlineMs, async (open) => {
      await before;
      return transact(await open(), work);
    });
    // A call that waits ends at its deadline, and those before it may go on.
    this.#transactions = before.then(() => settled.catch(() => {}));
    return settled;
  }

  /** Ends the session when what was sent is answered; later calls fail. */
  close(): Promise<void> {
    return this.#primary.close();
  }

  /** Ends a call at its deadline. What it has sent may go on: then its session is given up. */
  #within<T>(deadlineMs: number, call: (open: Open) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let session: Session | undefined;
      let isOver = false;
      const late = () => new EngineError('deadline', `The engine gave no answer within ${deadlineMs} ms`);
      const timer = setTimeout(() => {
        isOver = true;
        session?.abandon(late());
        // A call that waits for the session has rejected by now, and knows better what is lost.
        setImmediate(() => reject(late()));
      }, deadlineMs);
      const open = async () => {
        const opened = await this.#primary.session();
        if (isOver) throw late();
        session = opened;
        return opened;
      };
      call(open)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }
}
