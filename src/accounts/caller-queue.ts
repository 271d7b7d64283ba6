import { Refusal } from '../errors.ts';

/** What one caller may have waiting: two seconds' worth of passwords on a slow machine. */
const mostOfOne = 32;
/** What all callers may have waiting. */
const mostOfAll = 128;

/** Does the work of many callers in the order it came, one piece at a time; each of them may have so much waiting only. */
export class CallerQueue {
  readonly #waiting = new Map<string, number>();
  #all = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @throws {Refusal} `rate_limited` when too much of this caller waits, `backpressure` when too much of all does */
  checkRoom(caller: string): void {
    if ((this.#waiting.get(caller) ?? 0) >= mostOfOne)
      throw new Refusal('rate_limited', 'Too many passwords of yours are waiting; send them one by one', 2);
    if (this.#all >= mostOfAll)
      throw new Refusal('backpressure', 'Too many passwords are waiting to be hashed', 2);
  }

  /** Throws as `checkRoom`, at once. */
  run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    this.checkRoom(caller);
    this.#add(caller, 1);
    const done = this.#last.then(work).finally(() => this.#add(caller, -1));
    this.#last = done.catch(() => {});
    return done;
  }

  #add(caller: string, change: 1 | -1): void {
    const count = (this.#waiting.get(caller) ?? 0) + change;
    this.#all += change;
    if (count === 0) this.#waiting.delete(caller);
    else this.#waiting.set(caller, count);
  }
}
