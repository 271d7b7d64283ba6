import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { PostgresLinkStatus } from '../storage/commit/usage-store.ts';
import { Availability } from './postgres/availability.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { Run, Statement } from './postgres/statement.ts';

interface LinkDeps {
  readonly session: PostgresSession;
  readonly clock: Clock;
  readonly log: Log;
}

const notAsked = 'no query was sent yet';
const messages = {
  away: 'PostgreSQL is not available',
  next: 'packets are counted into the spool; retrying',
  back: 'PostgreSQL is available again',
};

/** A session with PostgreSQL, with its availability and commit figures. */
export class Link extends Availability implements PostgresSession {
  readonly #deps: LinkDeps;
  readonly #figures = { commits: 0, commitMs: 0, failovers: 0 };
  #timeline: string | undefined;

  constructor(deps: LinkDeps) {
    super(deps.clock, deps.log, messages, notAsked);
    this.#deps = deps;
  }

  /** Whether a query was sent. */
  get isTried(): boolean {
    return this.trouble !== notAsked;
  }

  get status(): PostgresLinkStatus {
    const { trouble, since } = this;
    return { connected: trouble === undefined, since, reason: trouble ?? '', ...this.#figures };
  }

  query<Row = Record<string, unknown>>(statement: Statement) {
    return this.#metered(() => this.#deps.session.query<Row>(statement));
  }

  transaction<T>(work: (run: Run) => Promise<T> | T): Promise<T> {
    return this.#metered(() => this.#deps.session.transaction(work));
  }

  /** @param timeline changes when another server has become the primary, or the database was restored */
  heard(timeline: string): void {
    this.answered();
    if (this.#timeline !== undefined && timeline !== this.#timeline) {
      this.#figures.failovers += 1;
      this.#deps.log.warn('another server is the primary now', { timeline, before: this.#timeline });
    }
    this.#timeline = timeline;
  }

  async #metered<T>(action: () => Promise<T>): Promise<T> {
    const { clock } = this.#deps;
    const began = clock.monotonic();
    const result = await action();
    this.#figures.commits += 1;
    this.#figures.commitMs += clock.monotonic() - began;
    return result;
  }
}

/** The status of a link before its first query. */
export function linkAt(since: number): PostgresLinkStatus {
  return { connected: false, since, reason: notAsked, commits: 0, commitMs: 0, failovers: 0 };
}
