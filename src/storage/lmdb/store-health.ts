import type { TimerClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { type DiskState, isOutOfSpace, probeDisk } from './disk.ts';

export interface StoreHealthDeps {
  readonly log: Log;
  readonly data: string;
  readonly clock: Pick<TimerClock, 'after'>;
  /** Called when the store can no longer be trusted, so the process must end. */
  fatal(reason: string): void;
  /** Called when data is accepted again, or no longer. */
  changed?(): void;
}

const retryMs = 1000;

/**
 * Whether the store can be written. The service recovers from a full disk once there is space again, because the failed commit
 * changed nothing. Any other failure is final. After a failed fdatasync, a later success proves nothing, so the process must end
 * and restart from the data on disk.
 */
export class StoreHealth {
  #state: DiskState = 'writable';
  readonly #deps: StoreHealthDeps;

  constructor(deps: StoreHealthDeps) {
    this.#deps = deps;
  }

  get ready(): boolean {
    return this.#state === 'writable';
  }

  failed(error: unknown): void {
    const { isFinal = false } = error as { isFinal?: boolean };
    if (this.#state === 'broken' || (this.#state === 'full' && !isFinal)) return;
    this.#state = isFinal ? 'broken' : isOutOfSpace(error) ? 'full' : probeDisk(this.#deps.data);
    if (this.#state === 'full') {
      this.#deps.log.error('the disk is full: answering 503 until 16 MiB are free', {
        cause: String(error),
      });
      this.#deps.clock.after(retryMs, () => this.#retry());
      this.#deps.changed?.();
      return;
    }
    this.#state = 'broken';
    this.#deps.log.error('the store failed: stopping', { cause: String(error) });
    this.#deps.fatal('the store failed');
  }

  #retry(): void {
    if (this.#state === 'broken') return;
    const state = probeDisk(this.#deps.data);
    if (state === 'writable') {
      this.#state = state;
      this.#deps.log.info('the disk has space again: accepting data');
      this.#deps.changed?.();
      return;
    }
    this.#deps.clock.after(retryMs, () => this.#retry());
  }
}
