import { setPriority } from 'node:os';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { Reading } from '../lmdb/snapshot.ts';

export interface WorkProgress {
  readonly done: number;
  /** Total amount of work; 0 if unknown. */
  readonly total: number;
  /** Unit of the amounts; bytes by default. */
  readonly unit?: 'records' | 'pages';
}

export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  constructor() {
    super('interrupted');
  }
}

interface PaceDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly over: AbortSignal;
  tell?(done: WorkProgress): void;
  /** Set if the task runs next to a service, which then has priority for the processor and the disk. */
  readonly gentle?: true;
  /** Waits `ms`, with a timer by default. */
  pause?(ms: number): Promise<unknown>;
}

/** Nice value of the backup's thread next to a service: it gets a tenth of the processor time under contention. */
const lowPriority = 10;

/** Interval between checks for an interruption, ms. A service next to the task waits at most this long. */
const sliceMs = { alone: 10, gentle: 2 };

/** Schedules a long task on a thread. Signals and messages are handled between two steps of the task. */
export class Pace {
  readonly #deps: PaceDeps;
  readonly #sliceMs: number;
  #beganAt = 0;
  #activity = () => 0;
  #lastActivity = 0;

  constructor(deps: PaceDeps) {
    this.#deps = deps;
    this.#sliceMs = deps.gentle ? sliceMs.gentle : sliceMs.alone;
  }

  /**
   * Gives the service priority from now on. Call this only while the task holds no resource that the service needs.
   * @param activity returns a count of the service's writes. After an increase, a pause lasts as long as the work
   */
  giveWay(activity: () => number): void {
    if (!this.#deps.gentle) return;
    // On Linux, the number 0 means the calling thread.
    setPriority(0, lowPriority);
    this.#activity = activity;
    this.#lastActivity = activity();
    this.#beganAt = this.#deps.clock.monotonic();
  }

  isDue(): boolean {
    return this.#workedMs() >= this.#sliceMs;
  }

  #workedMs(): number {
    return this.#deps.clock.monotonic() - this.#beganAt;
  }

  #isServiceBusy(): boolean {
    const before = this.#lastActivity;
    this.#lastActivity = this.#activity();
    return this.#lastActivity > before;
  }

  /** Reports progress, but does not pause. */
  report(done: WorkProgress): void {
    this.#deps.tell?.(done);
  }

  /** @throws {InterruptedError} if the task is interrupted */
  async rest(done?: WorkProgress): Promise<void> {
    if (done !== undefined) this.report(done);
    if (!this.isDue()) return;
    await (this.#isServiceBusy() ? (this.#deps.pause ?? pause)(this.#workedMs()) : nextTurn());
    if (this.#deps.over.aborted) throw new InterruptedError();
    this.#beganAt = this.#deps.clock.monotonic();
  }

  /**
   * Runs a long read to its end, and pauses between its steps.
   * @param progress called with the number of steps
   * @throws {InterruptedError}
   */
  async finish<T>(reading: Reading<T>, progress?: (steps: number) => WorkProgress): Promise<T> {
    for (let steps = 0; ; steps += 1) {
      const { done, value } = reading.next();
      if (done) return value;
      const reached = progress?.(steps + 1);
      if (this.isDue()) await this.rest(reached);
    }
  }

  /** Waits for an event that might not happen, such as the next chunk of a pipe. @throws {InterruptedError} */
  async wait<T>(coming: Promise<T>): Promise<T> {
    const { over } = this.#deps;
    let interrupt = () => {};
    const interrupted = new Promise<never>((_, reject) => {
      interrupt = () => reject(new InterruptedError());
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
