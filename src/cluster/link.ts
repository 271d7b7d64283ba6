import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { EngineError, EngineUnfit } from '../postgres/engine-error.ts';
import type { EngineView } from './beat.ts';
import { JoinRefused } from './join.ts';

/** Whether the engine can be reached, and what is said of it: once at each change. */
export class Link {
  readonly #log: Log;
  readonly #clock: Clock;
  #state: 'untried' | 'up' | 'down' = 'untried';
  #since: number;
  #reason = 'it was not asked yet';
  #timeline: string | undefined;
  #failovers = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
    this.#since = clock.now();
  }

  get isTried(): boolean {
    return this.#state !== 'untried';
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  /** Since when it is so, Unix ms. */
  get since(): number {
    return this.#since;
  }

  /** Why it is down, for people; empty when it is up. */
  get reason(): string {
    return this.#reason;
  }

  /** How often another server has become the primary. */
  get failovers(): number {
    return this.#failovers;
  }

  up(view: EngineView | undefined): void {
    if (this.#state === 'down')
      this.#log.info('the engine is back', { awayMs: this.#clock.now() - this.#since });
    if (this.#state !== 'up') this.#change('up', '');
    const { timeline } = view ?? {};
    if (timeline === undefined || timeline === this.#timeline) return;
    if (this.#timeline !== undefined) {
      this.#failovers += 1;
      this.#log.warn('another server is the primary now', { timeline, before: this.#timeline });
    }
    this.#timeline = timeline;
  }

  down(error: Error): void {
    const isNew = this.#state !== 'down' || this.#reason !== error.message;
    if (!isNew) return;
    const { code, sqlstate } =
      error instanceof EngineError ? error : { code: error.name, sqlstate: undefined };
    const next = 'packets are counted into the spool; it is tried again';
    // Who must not join is told so by the process, which ends.
    if (!(error instanceof JoinRefused))
      this.#log.warn('the engine does not answer as it should', {
        reason: error.message,
        code,
        sqlstate,
        next,
      });
    if (this.#state === 'down') this.#reason = error.message;
    else this.#change('down', error.message);
  }

  #change(state: 'up' | 'down', reason: string): void {
    this.#state = state;
    this.#reason = reason;
    this.#since = this.#clock.now();
  }
}

/** Whether the engine, or what it says of this node, is the reason of a failure. */
export function isOfEngine(error: Error): boolean {
  return [EngineError, EngineUnfit, JoinRefused].some((kind) => error instanceof kind);
}
