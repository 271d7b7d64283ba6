import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { EngineError } from '../postgres/engine-error.ts';

/** Shorter troubles, such as a failover, are waited out. */
const blipMs = 1000;
/** No request waits longer for the engine. */
export const patienceMs = 5000;

/** While it is away, or comes and goes, that is said again this often. */
const sayAgainMs = 60_000;

/** Whether the engine can be asked; what all that ask it share. */
export class Availability {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Log;
  #since: number | undefined;
  #saidAt = -Infinity;
  /** Whether the last that was said is that it does not answer. */
  #isSaid = false;
  #trouble: string | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Why it cannot be asked; `undefined` while it answers. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Whether it has not answered for so long that it makes no sense to wait. */
  get isDown(): boolean {
    return this.#since !== undefined && this.#clock.monotonic() - this.#since > blipMs;
  }

  answered(): void {
    if (this.#since === undefined) return;
    if (this.#isSaid) this.#log.info('the engine answers: accounts can be managed', { after: this.#trouble });
    this.#isSaid = false;
    this.#since = undefined;
    this.#trouble = undefined;
  }

  failed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const sqlstate = error instanceof EngineError ? error.sqlstate : undefined;
    const now = this.#clock.monotonic();
    // One of its connections may answer and another not, time and again.
    if (now - this.#saidAt >= sayAgainMs) {
      const next = 'requests that need it are answered 503 until it does; counting goes on';
      this.#log.warn('the engine does not answer', { error: why, sqlstate, next });
      this.#saidAt = now;
      this.#isSaid = true;
    }
    this.#since ??= now;
    this.#trouble = why;
  }
}
