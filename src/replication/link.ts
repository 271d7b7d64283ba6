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

const notAsked = 'it was not asked yet';
const messages = {
  away: 'the engine does not answer as it should',
  next: 'packets are counted into the spool; retrying',
  back: 'the engine is back',
};

/** A session with the engine, whether it answers, and figures of what it commits. */
export class Link extends Availability implements PostgresSession {
  readonly #deps: LinkDeps;
  readonly #figures = { commits: 0, commitMs: 0, failovers: 0 };
  #timeline: string | undefined;

  constructor(deps: LinkDeps) {
    super(deps.clock, deps.log, messages, notAsked);
    this.#deps = deps;
  }

  /** Whether the engine has been asked. */
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

  /** @param timeline changes when another server has become the primary, or it was restored */
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

/** The status of a link that was not tried yet. */
export function linkAt(since: number): PostgresLinkStatus {
  return { connected: false, since, reason: notAsked, commits: 0, commitMs: 0, failovers: 0 };
}
