import type { EngineSession } from '../postgres/connection.ts';
import type { Run, Statement } from '../postgres/statement.ts';

/** Counts what a session commits, and how long that takes. */
export class MeteredSession implements EngineSession {
  readonly #session: EngineSession;
  readonly #monotonic: () => number;
  commits = 0;
  /** Of all of them together. */
  commitMs = 0;

  constructor(session: EngineSession, monotonic: () => number) {
    this.#session = session;
    this.#monotonic = monotonic;
  }

  query<Row = Record<string, unknown>>(statement: Statement) {
    return this.#metered(() => this.#session.query<Row>(statement));
  }

  transaction<T>(work: (run: Run) => Promise<T> | T): Promise<T> {
    return this.#metered(() => this.#session.transaction(work));
  }

  async #metered<T>(action: () => Promise<T>): Promise<T> {
    const began = this.#monotonic();
    const result = await action();
    this.commits += 1;
    this.commitMs += this.#monotonic() - began;
    return result;
  }
}
