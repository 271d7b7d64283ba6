import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Answered } from './answered.ts';

/** Under load thousands of requests may be slow at once: at most one a second has a line, ms. */
const betweenLinesMs = 1000;

type Shown = Partial<Answered> & { readonly transport?: string };

/** Warns in the log of requests that took long. */
export class SlowRequests {
  /** From how long a request is slow. */
  readonly fromMs: number;
  readonly #log: Pick<Log, 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #lineAt = Number.NEGATIVE_INFINITY;
  /** Slow ones since the last line, which have none. */
  #silent = 0;

  /** @param fromMs 0: none is slow */
  constructor(fromMs: number, log: Pick<Log, 'warn'>, clock: Pick<Clock, 'monotonic'>) {
    this.fromMs = fromMs === 0 ? Number.POSITIVE_INFINITY : fromMs;
    this.#log = log;
    this.#clock = clock;
  }

  /** Takes one that was slow. */
  answered(answered: Shown): void {
    const now = this.#clock.monotonic();
    if (now - this.#lineAt < betweenLinesMs) {
      this.#silent += 1;
      return;
    }
    this.#log.warn('a request was slow', { ...answered, ...(this.#silent > 0 && { others: this.#silent }) });
    this.#lineAt = now;
    this.#silent = 0;
  }
}
