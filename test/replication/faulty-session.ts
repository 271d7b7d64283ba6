import type { PostgresSession } from '../../src/replication/postgres/connection.ts';
import { PostgresError } from '../../src/replication/postgres/postgres-error.ts';
import type { QueryResult, Run, Statement } from '../../src/replication/postgres/session.ts';

/**
 * A fault of a statement, or of its transaction.
 * - `refused`: the statement is not sent
 * - `lost`: the statement runs, but its response is lost
 * - `killed…`: the process is killed before or after the statement runs
 * - `late`, for the first statement of a transaction: the response is lost, and the server commits after the next
 *   transaction of the session has begun
 */
export type FaultKind = 'refused' | 'lost' | 'killed before' | 'killed after' | 'late';

/** Chooses the fault of a statement by its name. A transaction is named after its last statement. */
export type Fault = (statement: string) => FaultKind | undefined;

/** A session with PostgreSQL that fails when a test requests it. */
export class FaultySession implements PostgresSession {
  readonly #session: PostgresSession;
  readonly #with: FaultySession | undefined;
  readonly #late: PostgresSession | undefined;
  #release: () => void = () => {};
  fault: Fault;
  #isKilled = false;

  /**
   * @param dyingWith session of the same process; if it is killed, this session is, too
   * @param late session for transactions that go on after they are abandoned
   */
  constructor(
    session: PostgresSession,
    fault: Fault = () => undefined,
    dyingWith?: FaultySession,
    late?: PostgresSession,
  ) {
    this.#session = session;
    this.fault = fault;
    this.#with = dyingWith;
    this.#late = late;
  }

  get isKilled(): boolean {
    return this.#isKilled || (this.#with?.isKilled ?? false);
  }

  kill(): void {
    this.#isKilled = true;
  }

  query<Row = Record<string, unknown>>(statement: Statement): Promise<QueryResult<Row>> {
    return this.#run(statement.name ?? '', () => this.#session.query<Row>(statement));
  }

  async transaction<T>(work: (run: Run) => Promise<T> | T): Promise<T> {
    if (this.isKilled) throw away();
    if (this.fault('BEGIN') === 'late') await this.#goLate(work);
    let last = '';
    let kind: FaultKind | undefined;
    const result = await this.#session.transaction(async (run) => {
      const made = await work(<Row>(statement: Statement) => {
        last = statement.name ?? '';
        const sent = run<Row>(statement);
        this.#release();
        return sent;
      });
      kind = this.fault(last);
      if (kind === 'killed before') this.kill();
      if (kind === 'refused' || kind === 'killed before') throw away();
      return made;
    });
    return this.#after(kind, result);
  }

  /** Runs a transaction up to its COMMIT, which waits for the next transaction. */
  async #goLate<T>(work: (run: Run) => Promise<T> | T): Promise<never> {
    await new Promise<void>((resolve, reject) => {
      const released = new Promise<void>((release) => {
        this.#release = release;
      });
      const transaction = this.#late!.transaction(async (run) => {
        await work(run);
        resolve();
        await released;
      });
      transaction.catch(reject);
    });
    throw new PostgresError('unknown_outcome', 'no answer came in time');
  }

  async #run<T>(name: string, action: () => Promise<T>): Promise<T> {
    if (this.isKilled) throw away();
    const kind = this.fault(name);
    if (kind === 'killed before') this.kill();
    if (kind === 'refused' || kind === 'killed before') throw away();
    return this.#after(kind, await action());
  }

  #after<T>(kind: FaultKind | undefined, result: T): T {
    if (kind === 'killed after') this.kill();
    if (kind === 'lost' || kind === 'killed after') throw new PostgresError('unknown_outcome', 'the answer was lost');
    return result;
  }
}

function away(): PostgresError {
  return new PostgresError('unreachable', 'the test blocks PostgreSQL');
}
