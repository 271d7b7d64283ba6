import type { EngineSession } from '../../src/cluster/session.ts';
import { EngineError } from '../../src/postgres/engine-error.ts';
import type { QueryResult, Run, Statement } from '../../src/postgres/statement.ts';

/**
 * What goes wrong with a statement, or with the transaction that it is in. `refused`: it is not sent. `lost`: it is done, and the
 * answer does not come. `killed…`: so ends the process, before or after it was done.
 */
export type FaultKind = 'refused' | 'lost' | 'killed before' | 'killed after';

/** Is asked for each statement, by its name; a transaction is asked for by the last statement in it. */
export type Fault = (statement: string) => FaultKind | undefined;

/** A session with the engine on which things go wrong when a test wants it. */
export class FaultySession implements EngineSession {
  readonly #session: EngineSession;
  readonly #with: FaultySession | undefined;
  fault: Fault;
  #isKilled = false;

  /** @param dyingWith the session of the same process */
  constructor(session: EngineSession, fault: Fault = () => undefined, dyingWith?: FaultySession) {
    this.#session = session;
    this.fault = fault;
    this.#with = dyingWith;
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
    let last = '';
    let kind: FaultKind | undefined;
    const result = await this.#session.transaction(async (run) => {
      const made = await work((statement) => {
        last = statement.name ?? '';
        return run(statement);
      });
      kind = this.fault(last);
      if (kind === 'killed before') this.kill();
      if (kind === 'refused' || kind === 'killed before') throw away();
      return made;
    });
    return this.#after(kind, result);
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
    if (kind === 'lost' || kind === 'killed after')
      throw new EngineError('unknown_outcome', 'the answer was lost');
    return result;
  }
}

function away(): EngineError {
  return new EngineError('unreachable', 'the test keeps the engine away');
}
