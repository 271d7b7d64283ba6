import { Histogram } from '../../runtime/histogram.ts';
import type { Log } from '../../runtime/log.ts';

export interface SlowCommits {
  /** Milliseconds; 0 disables the warning. */
  readonly fromMs: number;
  readonly log: Pick<Log, 'warn'>;
}

/** Measures the commits of one store, and warns of slow ones. */
export class CommitWatch {
  /** Seconds. */
  readonly times = new Histogram();
  readonly #store: string;
  readonly #slow: SlowCommits | undefined;

  constructor(store: string, slow?: SlowCommits) {
    this.#store = store;
    this.#slow = slow?.fromMs === 0 ? undefined : slow;
  }

  /** Records a commit. @param size its contents, for the log */
  took(ms: number, size: Readonly<Record<string, number>>): void {
    this.times.observe(ms / 1000);
    if (this.#slow === undefined || ms < this.#slow.fromMs) return;
    this.#slow.log.warn('a commit was slow', { store: this.#store, ms, ...size });
  }
}
