import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

/** Minimum interval between log lines, ms. Under load, thousands of requests can be slow at the same time. */
const betweenLinesMs = 1000;

type SlowRequest = Partial<RequestSummary> & { readonly transport?: string };

export class SlowRequests {
  readonly fromMs: number;
  readonly #log: Pick<Log, 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #lineAt = Number.NEGATIVE_INFINITY;
  /** Number of slow requests that were not logged since the last line. */
  #silent = 0;

  /** @param fromMs minimum duration of a slow request; 0 disables the log */
  constructor(fromMs: number, log: Pick<Log, 'warn'>, clock: Pick<Clock, 'monotonic'>) {
    this.fromMs = fromMs === 0 ? Number.POSITIVE_INFINITY : fromMs;
    this.#log = log;
    this.#clock = clock;
  }

  log(summary: SlowRequest): void {
    const now = this.#clock.monotonic();
    if (now - this.#lineAt < betweenLinesMs) {
      this.#silent += 1;
      return;
    }
    this.#log.warn('slow request', { ...summary, ...(this.#silent > 0 && { others: this.#silent }) });
    this.#lineAt = now;
    this.#silent = 0;
  }
}

export interface RequestSummary {
  readonly method: string;
  /** Pattern of the route instead of the path, which could name a person. */
  readonly route: string;
  readonly status: number;
  readonly code: string | undefined;
  readonly ms: number;
  /** Length of the response body in bytes. */
  readonly bytes: number;
  readonly requestId: string;
}
