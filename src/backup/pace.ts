import { setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** How much of a long work is done. */
export interface Done {
  readonly done: number;
  readonly total: number;
}

/** What a long work is interrupted by. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('interrupted');
  }
}

export interface PaceDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Says that the work has to end. */
  readonly over: AbortSignal;
  /** Is told how far the work is. */
  tell?(done: Done): void;
  /** Lets the service have the processor and the disk first, where it works beside one. */
  readonly gentle?: true;
}

/** Of the thread, where it works beside a service: it gets a tenth of what others want as well. */
const lowPriority = 10;

/** How long a work goes on before it looks whether it has to end, ms. */
const turnMs = 10;

/** The turns of a long work on a thread: between two of them signals and messages arrive. */
export class Pace {
  readonly #deps: PaceDeps;
  #restAt = 0;

  constructor(deps: PaceDeps) {
    this.#deps = deps;
  }

  get isGentle(): boolean {
    return this.#deps.gentle === true;
  }

  /** Lets others come first from now on. Call it when nothing is held that the service waits for. */
  giveWay(): void {
    // Of 0, Linux takes the thread that calls.
    if (this.isGentle) setPriority(0, lowPriority);
  }

  isDue(): boolean {
    return this.#deps.clock.monotonic() >= this.#restAt;
  }

  /** @throws {Interrupted} when the work has to end */
  async rest(done?: Done): Promise<void> {
    if (done !== undefined) this.#deps.tell?.(done);
    if (!this.isDue()) return;
    await nextTurn();
    if (this.#deps.over.aborted) throw new Interrupted();
    this.#restAt = this.#deps.clock.monotonic() + turnMs;
  }

  /**
   * Waits for something that may not come, such as the reader of a pipe.
   * @throws {Interrupted} when the work has to end before that
   */
  async wait<T>(coming: Promise<T>): Promise<T> {
    const { over } = this.#deps;
    if (over.aborted) throw new Interrupted();
    const { promise: interrupted, reject } = Promise.withResolvers<never>();
    const interrupt = () => reject(new Interrupted());
    over.addEventListener('abort', interrupt);
    try {
      return await Promise.race([coming, interrupted]);
    } finally {
      over.removeEventListener('abort', interrupt);
    }
  }
}
