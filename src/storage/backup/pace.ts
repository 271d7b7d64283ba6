import { setPriority } from 'node:os';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';

/** How much of a long work is done. */
export interface Done {
  readonly done: number;
  /** 0 when it is not known. */
  readonly total: number;
  /** What is counted; bytes unless given. */
  readonly unit?: 'records' | 'pages';
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
  /** Waits; by a timer unless another way is given. */
  pause?(ms: number): Promise<unknown>;
}

/** Of the thread, where it works beside a service: it gets a tenth of what others want as well. */
const lowPriority = 10;

/** How long a work goes on before it looks whether it has to end, ms. Beside a service others wait for it no longer than that. */
const turnMs = { alone: 10, gentle: 2 };

/** The turns of a long work on a thread: between two of them signals and messages arrive. */
export class Pace {
  readonly #deps: PaceDeps;
  readonly #turnMs: number;
  #beganAt = 0;
  #activity = () => 0;
  #lastActivity = 0;

  constructor(deps: PaceDeps) {
    this.#deps = deps;
    this.#turnMs = deps.gentle ? turnMs.gentle : turnMs.alone;
  }

  /**
   * Lets others come first from now on. Call it when nothing is held that the service waits for.
   * @param activity grows when the service writes: the work then rests for as long as it has worked
   */
  giveWay(activity: () => number): void {
    if (!this.#deps.gentle) return;
    // Of 0, Linux takes the thread that calls.
    setPriority(0, lowPriority);
    this.#activity = activity;
    this.#lastActivity = activity();
    this.#beganAt = this.#deps.clock.monotonic();
  }

  isDue(): boolean {
    return this.#workedMs() >= this.#turnMs;
  }

  #workedMs(): number {
    return this.#deps.clock.monotonic() - this.#beganAt;
  }

  /** Whether the service has written since this was asked last. */
  #isServiceBusy(): boolean {
    const before = this.#lastActivity;
    this.#lastActivity = this.#activity();
    return this.#lastActivity > before;
  }

  /** @throws {Interrupted} when the work has to end */
  async rest(done?: Done): Promise<void> {
    if (done !== undefined) this.#deps.tell?.(done);
    if (!this.isDue()) return;
    await (this.#isServiceBusy() ? (this.#deps.pause ?? pause)(this.#workedMs()) : nextTurn());
    if (this.#deps.over.aborted) throw new Interrupted();
    this.#beganAt = this.#deps.clock.monotonic();
  }

  /**
   * Waits for something that may not come, such as the reader of a pipe.
   * @throws {Interrupted} when the work has to end before that
   */
  async wait<T>(coming: Promise<T>): Promise<T> {
    const { over } = this.#deps;
    let interrupt = () => {};
    const interrupted = new Promise<never>((_, reject) => {
      interrupt = () => reject(new Interrupted());
    });
    over.addEventListener('abort', interrupt);
    if (over.aborted) interrupt();
    try {
      return await Promise.race([interrupted, coming]);
    } finally {
      over.removeEventListener('abort', interrupt);
    }
  }
}
