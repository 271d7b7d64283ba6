import { constants } from 'node:os';
import type { Log } from '../log.ts';
import { type DiskState, probeDisk } from './probe-disk.ts';

/** What becomes of the service when the store fails. */
export interface HealthHooks {
  readonly log: Log;
  /** The data directory. */
  readonly data: string;
  /** Calls back once, after `ms`. */
  after(ms: number, callback: () => void): void;
  /** The store cannot be trusted any more: the process must end. */
  fatal(reason: string): void;
}

const retryMs = 1000;

/**
 * Whether the store takes data. A full disk heals by itself once there is room: a commit that found none changed
 * nothing. Any other failure is final: after an fdatasync that failed, a later one that succeeds proves nothing, so
 * the process must end and start again from what the disk really holds.
 */
export class StoreHealth {
  #state: DiskState = 'writable';
  readonly #hooks: HealthHooks;

  constructor(hooks: HealthHooks) {
    this.#hooks = hooks;
  }

  get ready(): boolean {
    return this.#state === 'writable';
  }

  /** A commit failed with `error`. */
  failed(error: unknown): void {
    if (this.#state !== 'writable') return;
    this.#state = isOutOfSpace(error) ? 'full' : probeDisk(this.#hooks.data);
    if (this.#state === 'full') {
      this.#hooks.log.error('the disk is full: answering 503 until there are 16 MiB of room', {
        cause: String(error),
      });
      this.#hooks.after(retryMs, () => this.#retry());
      return;
    }
    this.#state = 'broken';
    this.#hooks.log.error('the store failed: stopping', { cause: String(error) });
    this.#hooks.fatal('the store failed');
  }

  #retry(): void {
    const state = probeDisk(this.#hooks.data);
    if (state === 'writable') {
      this.#state = state;
      this.#hooks.log.info('the disk has room again: taking data');
      return;
    }
    this.#hooks.after(retryMs, () => this.#retry());
  }
}

function isOutOfSpace(error: unknown): boolean {
  const { ENOSPC, EDQUOT } = constants.errno;
  const { code } = error as { code?: unknown };
  return code === ENOSPC || code === EDQUOT;
}
