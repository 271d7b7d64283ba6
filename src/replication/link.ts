import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { EngineLinkStatus } from '../storage/commit/usage-engine.ts';
import { JoinRefused } from './join.ts';
import type { EngineSession } from './postgres/connection.ts';
import { EngineError, EngineUnfit } from './postgres/engine-error.ts';
import type { Run, Statement } from './postgres/statement.ts';

interface LinkDeps {
  readonly session: EngineSession;
  readonly clock: Clock;
  readonly log: Log;
}

/** A session with the engine, what it commits, and whether the engine can be reached: the log says so at each change. */
export class Link implements EngineSession {
  readonly #deps: LinkDeps;
  #status: EngineLinkStatus;
  #timeline: string | undefined;
  /** Whether the engine has been asked. */
  isTried = false;

  constructor(deps: LinkDeps) {
    this.#deps = deps;
    this.#status = linkAt(deps.clock.now());
  }

  get status(): EngineLinkStatus {
    return this.#status;
  }

  query<Row = Record<string, unknown>>(statement: Statement) {
    return this.#metered(() => this.#deps.session.query<Row>(statement));
  }

  transaction<T>(work: (run: Run) => Promise<T> | T): Promise<T> {
    return this.#metered(() => this.#deps.session.transaction(work));
  }

  /** @param timeline changes when another server has become the primary, or it was restored */
  up(timeline: string): void {
    const { clock, log } = this.#deps;
    const { connected, since, failovers } = this.#status;
    if (!connected && this.isTried) log.info('the engine is back', { awayMs: clock.now() - since });
    if (!connected) this.#change({ connected: true, reason: '', since: clock.now() });
    if (this.#timeline !== undefined && timeline !== this.#timeline) {
      this.#change({ failovers: failovers + 1 });
      log.warn('another server is the primary now', { timeline, before: this.#timeline });
    }
    this.#timeline = timeline;
  }

  down(error: Error): void {
    const { clock, log } = this.#deps;
    const { connected, since, reason } = this.#status;
    if (!connected && reason === error.message) return;
    const isNew = connected || !this.isTried;
    this.#change({ connected: false, reason: error.message, since: isNew ? clock.now() : since });
    // The process reports why this node must not join, and exits.
    if (error instanceof JoinRefused) return;
    const { code, sqlstate } =
      error instanceof EngineError ? error : { code: error.name, sqlstate: undefined };
    const next = 'packets are counted into the spool; it is tried again';
    log.warn('the engine does not answer as it should', { reason: error.message, code, sqlstate, next });
  }

  #change(change: Partial<EngineLinkStatus>): void {
    this.isTried ||= change.connected !== undefined;
    this.#status = { ...this.#status, ...change };
  }

  async #metered<T>(action: () => Promise<T>): Promise<T> {
    const { clock } = this.#deps;
    const began = clock.monotonic();
    const result = await action();
    const { commits, commitMs } = this.#status;
    this.#change({ commits: commits + 1, commitMs: commitMs + clock.monotonic() - began });
    return result;
  }
}

/** A link that was not tried yet. */
export function linkAt(since: number): EngineLinkStatus {
  return {
    ...{ connected: false, since, reason: 'it was not asked yet' },
    ...{ commits: 0, commitMs: 0, failovers: 0 },
  };
}

/** Whether the engine, or what it says of this node, is the reason of a failure. */
export function isOfEngine(error: Error): boolean {
  return [EngineError, EngineUnfit, JoinRefused].some((kind) => error instanceof kind);
}
