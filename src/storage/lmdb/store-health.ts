import type { TimerClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { type DiskState, probeDisk, type Shortage, shortageIn } from './disk.ts';

interface StoreHealthDeps {
  readonly log: Log;
  readonly data: string;
  readonly clock: Pick<TimerClock, 'after'>;
  /** Called when the store can no longer be trusted, so the process must end. */
  fatal(reason: string): void;
  /** Called when data is accepted again, or no longer. */
  changed?(): void;
}

const retryMs = 1000;

/** The lines of the log when a shortage begins and ends. */
const lines: Readonly<Record<Shortage, { readonly began: string; readonly ended: string }>> = {
  space: {
    began: 'the disk is full: answering 503 until 16 MiB are free',
    ended: 'the disk has space again: accepting data',
  },
  files: {
    began: 'too many files are open: answering 503 until one can be opened',
    ended: 'files can be opened again: accepting data',
  },
};

/**
 * State of the store. The service recovers from a full disk, and from a lack of descriptors, because the failed commit changed
 * nothing. Any other failure is final: after a failed fdatasync a later success proves nothing, so the process must end.
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

  /** Why data is not accepted, if everyone may read it; `undefined` if only the log says it. */
  get reason(): string | undefined {
    return this.#state === 'files' ? 'too many files are open' : undefined;
  }

  failed(error: unknown): void {
    const { isFinal = false } = error as { isFinal?: boolean };
    if (this.#state === 'broken' || (this.#shortage !== undefined && !isFinal)) return;
    this.#state = isFinal ? 'broken' : (shortageIn(error) ?? probeDisk(this.#deps.data));
    const shortage = this.#shortage;
    if (shortage !== undefined) {
      this.#deps.log.error(lines[shortage].began, { cause: String(error) });
      this.#deps.clock.after(retryMs, () => this.#retry());
      this.#deps.changed?.();
      return;
    }
    this.#state = 'broken';
    this.#deps.log.error('the store failed: stopping', { cause: String(error) });
    this.#deps.fatal('the store failed');
  }

  get #shortage(): Shortage | undefined {
    return this.#state === 'writable' || this.#state === 'broken' ? undefined : this.#state;
  }

  #retry(): void {
    const shortage = this.#shortage;
    if (shortage === undefined) return;
    if (probeDisk(this.#deps.data) === 'writable') {
      this.#state = 'writable';
      this.#deps.log.info(lines[shortage].ended);
      this.#deps.changed?.();
      return;
    }
    this.#deps.clock.after(retryMs, () => this.#retry());
  }
}
